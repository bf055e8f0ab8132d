/** A typed configuration of Envoy; `type` without its package's prefix. */
export const typed = (type: string, fields: object = {}) => ({ '@type': `type.googleapis.com/${type}`, ...fields });
