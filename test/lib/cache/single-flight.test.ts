import { expect, it } from 'vitest'
import { createSingleFlight } from '../../../src/lib/cache/single-flight.ts'

it('a single flight runs once for concurrent callers of a key, and again afterwards, even after a failure', async () => {
  const flights = createSingleFlight<number>()
  let runs = 0
  const work = async () => {
    runs++
    if (runs === 2) throw new Error('broken')
    return runs
  }
  expect(await Promise.all([flights.run('a', work), flights.run('a', work)])).toEqual([1, 1])
  await expect(Promise.all([flights.run('a', work), flights.run('a', work)])).rejects.toThrow('broken')
  expect(await Promise.all([flights.run('a', work), flights.run('b', work)])).toEqual([3, 4])
})

it('a single flight that was forgotten runs again, and both runs return their own results', async () => {
  const flights = createSingleFlight<string>()
  const first = Promise.withResolvers<string>()
  const waiting = flights.run('server-1 a', () => first.promise)
  flights.forget('server-1 ')
  const second = flights.run('server-1 a', async () => 'new')
  first.resolve('old')
  expect(await Promise.all([waiting, second])).toEqual(['old', 'new'])
})
