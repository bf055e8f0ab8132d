/** A typed configuration of Envoy; `type` without the `type.googleapis.com/` prefix. */
export const typed = (type: string, fields: object = {}) => ({ '@type': `type.googleapis.com/${type}`, ...fields });
