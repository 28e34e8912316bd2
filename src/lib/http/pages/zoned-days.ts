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

/** Converts midnight in UTC to midnight of the same date in the zone. */
const toZone = (midnight: number, zone: string): Date =>
  // The offset at midnight may differ from the one at midnight in UTC.
  new Date(midnight - offsetMs(midnight - offsetMs(midnight, zone), zone))

/** Returns when a date such as `2026-11-22` starts in the zone. */
export const startOfDay = (day: string, zone: string): Date => toZone(Date.parse(day), zone)

/** Returns when the day after this date starts in the zone. */
export const startOfNextDay = (day: string, zone: string): Date => toZone(Date.parse(day) + DAY_MS, zone)
