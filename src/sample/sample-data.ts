/** Euro reference rates from a fixed date, so that results are reproducible and need no network. */
export const RATES: Readonly<Record<string, number>> = {
  EUR: 1,
  USD: 1.0842,
  GBP: 0.8421,
  JPY: 163.25,
  CHF: 0.9387,
  SEK: 11.4725,
  AUD: 1.6512,
  CAD: 1.5035,
}

export type Contact = { id: number; name: string; email: string; city: string; role: string }

export const CONTACTS: readonly Contact[] = [
  { id: 1, name: 'Ada Lindqvist', email: 'ada@example.com', city: 'Stockholm', role: 'engineer' },
  { id: 2, name: 'Bruno Keller', email: 'bruno@example.com', city: 'Zurich', role: 'designer' },
  { id: 3, name: 'Chiara Rossi', email: 'chiara@example.com', city: 'Turin', role: 'engineer' },
  { id: 4, name: 'Dai Tanaka', email: 'dai@example.com', city: 'Osaka', role: 'support' },
  { id: 5, name: 'Elena Petrova', email: 'elena@example.com', city: 'Sofia', role: 'manager' },
]
