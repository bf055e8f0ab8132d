/** The rules of screening, as operators read them. */
import { useQuery } from '@tanstack/react-query';
import { api, must } from './client.ts';

/** The version that holds. */
export const usePolicy = () => useQuery({ queryKey: ['policy'], queryFn: () => must(api.GET('/operator/v1/policy')) });

/** Names who made something, of whom a reply has the id alone. One that is not known by name keeps the id. */
export function useMaker(): (id: string) => string {
  const operators = useQuery({ queryKey: ['operators'], queryFn: () => must(api.GET('/operator/v1/operators')) });
  const names = new Map(operators.data?.data.map(({ id, name }) => [id, name]));
  return (id) => (id === 'system' ? 'the software' : (names.get(id) ?? id));
}
