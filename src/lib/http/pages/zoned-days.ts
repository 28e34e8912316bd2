import { z } from 'zod'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/durations.ts'

const isZone = (text: string): boolean => {
  try {
    return text !== '' && new Intl.DateTimeFormat('en', { timeZone: text }) !== undefined
  } catch {
    return false
  }
}

/** The reader's time zone, which a script adds to forms with dates. UTC without scripts. */
export const timeZone = z.string().max(64).refine(isZone).catch('UTC')

/** Returns how far the zone's clocks are ahead of UTC at a time, in milliseconds. */
const offsetMs = (time: number, zone: string): number => {
  const parts = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(time)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(name) ?? []
  const ahead = Number(hours ?? 0) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS
  return sign === '-' ? -ahead : ahead
}

/** Converts a time in UTC to the time at which the zone's clocks show the same. */
const toZone = (time: number, zone: string): Date =>
  // The offset at that time may differ from the one at the same time in UTC.
  new Date(time - offsetMs(time - offsetMs(time, zone), zone))

/** Returns when a date such as `2026-11-22` starts in the zone. */
export const startOfDay = (day: string, zone: string): Date => toZone(Date.parse(day), zone)

/** Returns when the day after this date starts in the zone. */
export const startOfNextDay = (day: string, zone: string): Date => toZone(Date.parse(day) + DAY_MS, zone)

const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/

/** Parses the value of a datetime-local field (HTML), such as `2026-11-22T09:30`, in the zone. */
export const parseLocalTime = (text: string, zone: string): Date | undefined => {
  const time = LOCAL_TIME.test(text) ? Date.parse(`${text}Z`) : Number.NaN
  return Number.isNaN(time) ? undefined : toZone(time, zone)
}

/** Formats a time in the zone as the value of a datetime-local field, without seconds if there are none. */
export const localTimeText = (time: Date, zone: string): string => {
  const text = new Date(time.getTime() + offsetMs(time.getTime(), zone)).toISOString().slice(0, 19)
  return text.endsWith(':00') ? text.slice(0, 16) : text
}
