/** What each view of the rules is shown with. */
export interface ViewProps {
  readonly mayChange: boolean;
}
