/** Formats a time to the minute, in UTC. */
export const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Returns the text and, as `at`, the ISO time, which `/parts/time` uses to show the reader's own time zone. */
export const shownTime = (time: Date) => ({ at: time.toISOString(), text: timeText(time) })
