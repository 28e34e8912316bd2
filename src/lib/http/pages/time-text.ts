/** Formats a time to the minute, in UTC. */
export const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/**
 * Returns the time as `text`, and in ISO 8601 as `at`, which `/parts/time` uses to show the time in the user's time
 * zone.
 */
export const shownTime = (time: Date) => ({ at: time.toISOString(), text: timeText(time) })
