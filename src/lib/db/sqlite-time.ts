/** Formats a time as Prisma's SQLite adapter does, because times are compared as text. Takes ms since the epoch. */
export const toTimeText = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('Z', '+00:00')
