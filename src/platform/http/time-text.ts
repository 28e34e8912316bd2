/** A time on a page, to the minute. */
export const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`
