/** A time on a page, to the minute. */
export const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** The same, and the time itself as `at`, so that a page can say it in the reader's own zone: `/parts/time`. */
export const shownTime = (time: Date) => ({ at: time.toISOString(), text: timeText(time) })
