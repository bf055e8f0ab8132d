/** True for a loopback host. IPv6 can be in brackets, as `URL` gives it, or without, as a socket takes it. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname === '[::1]' ||
  hostname === '::1' ||
  /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);

/** Whether a user name or a password stands in this URL, where logs and messages would show it. */
export function hasLogin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { password, username } = new URL(text);
  return username !== '' || password !== '';
}

/** Whether traffic to this URL is protected from eavesdropping: https, or http on loopback. */
export function isConfidentialUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}
