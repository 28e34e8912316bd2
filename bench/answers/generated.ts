/** Frozen results of shapes that the packages lack, made from a fixed seed. Each has a few facts that are planted. */
import { createRandom, padded, pick } from './random.ts'

const PLANS = ['free', 'team', 'business', 'enterprise']
const CITIES = ['Delft', 'Bonn', 'Porto', 'Turku', 'Graz', 'Ghent', 'Lille', 'Split']
const PRODUCTS = ['Lamp', 'Chair', 'Desk', 'Shelf', 'Mirror', 'Rug', 'Clock']

/** An object with a thousand members of the same shape, keyed by id. */
const makeAccounts = (): object => {
  const random = createRandom(1)
  const accounts = Array.from({ length: 1_000 }, (_, index) => [
    `acct_${padded(index, 6)}`,
    {
      name: `Customer ${index}`,
      plan: index === 611 ? 'nonprofit' : pick(random, PLANS),
      seats: index === 431 ? 99_999 : 1 + random(500),
      address: { street: `${1 + random(200)} Main Street`, city: index === 777 ? 'Samarkand' : pick(random, CITIES) },
      active: random(10) > 0,
    },
  ])
  return { object: 'map', accounts: Object.fromEntries(accounts) }
}

/** A GraphQL response: pages of edges with nodes, and lists in the nodes. */
const makeOrders = (): object => {
  const random = createRandom(2)
  const edges = Array.from({ length: 700 }, (_, index) => ({
    cursor: Buffer.from(`order:${index}`).toString('base64'),
    node: {
      id: `gid://shop/Order/${5_000 + index}`,
      createdAt: `2026-0${1 + random(9)}-${padded(1 + random(28), 2)}T08:00:00Z`,
      customer: { displayName: index === 350 ? 'Ada Lovelace' : `Buyer ${random(300)}` },
      lineItems: Array.from({ length: 1 + random(4) }, () => ({
        title: index === 123 ? 'Golden Harp' : pick(random, PRODUCTS),
        quantity: 1 + random(5),
        priceCents: index === 123 ? 777_700 : 500 + random(20_000),
      })),
    },
  }))
  return { data: { shop: { orders: { edges, pageInfo: { hasNextPage: false, endCursor: 'b3JkZXI6Njk5' } } } } }
}

const PATHS = ['/api/items', '/api/users', '/api/orders', '/health']

/** A log of requests. */
const makeLog = (): string => {
  const random = createRandom(3)
  const lines = Array.from({ length: 4_000 }, (_, index) => {
    const time = `2026-05-04T${padded(Math.floor(index / 200), 2)}:${padded(index % 60, 2)}:00Z`
    if (index === 2_718) return `${time} ERROR payment gateway refused the charge of customer 4471: card expired`
    return `${time} INFO ${pick(random, PATHS)} 200 in ${1 + random(90)} ms, request ${padded(random(1_000_000), 6)}`
  })
  return lines.join('\n')
}

export const GENERATED: Readonly<Record<string, () => string>> = {
  'accounts-by-id': () => JSON.stringify(makeAccounts()),
  'orders-graphql': () => JSON.stringify(makeOrders()),
  'request-log': makeLog,
}
