import { DAY_MS } from '../../kernel/durations.ts'

/** Formats a time to the minute, in UTC. */
export const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`

const DAY = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})

const dayNumber = (time: Date): number => Math.floor(time.getTime() / DAY_MS)

/** Formats the day of a time in UTC: `Today`, `Yesterday`, or `Tue 24 November 2026`. */
export const dayText = (time: Date, now: Date): string => {
  const daysAgo = dayNumber(now) - dayNumber(time)
  if (daysAgo === 0) return 'Today'
  return daysAgo === 1 ? 'Yesterday' : DAY.format(time).replace(',', '')
}

/**
 * Returns the time as `text`, and in ISO 8601 as `at`, which `/parts/time` uses to show how long ago it was, with the
 * time in the user's time zone as its title.
 */
export const shownTime = (time: Date) => ({ at: time.toISOString(), text: timeText(time) })

/** Like `shownTime`, but shows the time itself. For sentences such as "since …", and for logs. */
export const exactTime = (time: Date) => ({ ...shownTime(time), isExact: true })
