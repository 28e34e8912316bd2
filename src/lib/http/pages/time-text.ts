/** Formats a time to the minute, in UTC. */
export const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Returns the time as text and, in `at`, as ISO 8601: `/parts/time` uses it to show the user's own time zone. */
export const shownTime = (time: Date) => ({ at: time.toISOString(), text: timeText(time) })
