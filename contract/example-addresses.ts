import type { Addresses } from './errors.ts';

export const exampleAddresses: Addresses = {
  baseUrl: 'https://gw.example.com',
  statusUrl: 'https://status.example.com',
  auditEmail: 'audit@example.com',
  securityEmail: 'security@example.com',
};
