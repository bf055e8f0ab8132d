/** What does not leave the machine. */
/** `hostname`: as `URL` gives it, IPv6 in brackets, or as a socket takes it, without. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname === '[::1]' ||
  hostname === '::1' ||
  /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);

/** Whether what is sent there cannot be read on the way: https, or http on loopback. */
export function isConfidentialUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}
