export interface ViewProps {
  readonly mayChange: boolean;
}
