import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startOfDay, startOfNextDay, timeZone } from '../../../src/lib/http/pages/zoned-days.ts'

describe('days in a time zone', () => {
  it.each([
    ['2026-11-22', 'UTC', '2026-11-22T00:00:00.000Z'],
    ['2026-11-22', 'Pacific/Kiritimati', '2026-11-21T10:00:00.000Z'],
    ['2026-11-22', 'Asia/Kathmandu', '2026-11-21T18:15:00.000Z'],
    ['2026-11-22', 'America/Los_Angeles', '2026-11-22T08:00:00.000Z'],
    // Clocks change at 1:00 UTC, after midnight in Berlin.
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
  ])('%s in %s starts at %s', (day, zone, start) => {
    expect(startOfDay(day, zone).toISOString()).toBe(start)
  })

  it('starts when the day before ends', () => {
    const zones = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Auckland', 'UTC')
    const days = fc.date({ min: new Date('1971-01-01'), max: new Date('2099-12-30'), noInvalidDate: true })
    fc.assert(
      fc.property(zones, days, (zone, date) => {
        const day = date.toISOString().slice(0, 10)
        const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
        expect(startOfNextDay(day, zone)).toEqual(startOfDay(next, zone))
        const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
        expect(format.format(startOfDay(day, zone))).toBe(`${day} 00:00:00`)
      }),
    )
  })

  it('is in UTC if the zone is unknown', () => {
    expect(['Europe/Berlin', '', 'Nowhere', undefined, ['UTC']].map(zone => timeZone.parse(zone))).toEqual([
      'Europe/Berlin',
      'UTC',
      'UTC',
      'UTC',
      'UTC',
    ])
  })
})
