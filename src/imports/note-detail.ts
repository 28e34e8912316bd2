/** Returns the part of a note that others share: the detail comes after a colon. */
export const withoutDetail = (note: string): string => note.replace(/: .*$/s, '.')
