/** The media type of a pack, short or long. */
export const packType = 'application/ld+json; charset=utf-8';
