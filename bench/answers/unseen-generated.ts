/**
 * Generated results of the unseen set. They were written by somebody who did not know the replies of the tools, after
 * the tools were finished. Each is made from a fixed seed, and each has a few facts that are planted.
 */
import { createRandom, padded, pick, type Random } from './random.ts'

const token = (random: Random, length: number, alphabet = 'bcdfghjklmnpqrstvwxz2456789'): string =>
  Array.from({ length }, () => alphabet[random(alphabet.length)] ?? '').join('')

const day = (random: Random): string => `2026-${padded(1 + random(9), 2)}-${padded(1 + random(28), 2)}`

const time = (random: Random): string => `${day(random)}T${padded(random(24), 2)}:${padded(random(60), 2)}:00Z`

const PEOPLE = [
  'Anouk Verhoeven',
  'Tomasz Lis',
  'Priya Raman',
  'Jonas Berg',
  'Lucia Ferri',
  'Samuel Okoye',
  'Mei Tanaka',
  'Hugo Laurent',
  'Sofia Nunes',
  'Aidan Walsh',
]
const SUBJECTS = ['The export', 'The search page', 'The nightly job', 'The invoice form', 'The mobile app', 'The feed']
const VERBS = ['ignores', 'duplicates', 'hides', 'delays', 'truncates', 'rejects', 'reorders']
const OBJECTS = ['the second address', 'long names', 'empty rows', 'the discount', 'attachments', 'old bookmarks']
const ENDINGS = [
  'when the session is older than an hour',
  'after the update of last week',
  'if the language is not English',
  'on slow connections',
  'for accounts with two owners',
  'only in the afternoon',
]

const sentence = (random: Random): string =>
  `${pick(random, SUBJECTS)} ${pick(random, VERBS)} ${pick(random, OBJECTS)} ${pick(random, ENDINGS)}.`

const sentences = (random: Random, count: number): string =>
  Array.from({ length: count }, () => sentence(random)).join(' ')

const person = (random: Random): { accountId: string; displayName: string; emailAddress: string | null } => {
  const displayName = pick(random, PEOPLE)
  return {
    accountId: token(random, 12),
    displayName,
    emailAddress: random(3) === 0 ? null : `${displayName.toLowerCase().replace(' ', '.')}@example.org`,
  }
}

/** A ticket with the given comments. */
const makeIssue = (random: Random, index: number, comments: readonly object[]): object => ({
  id: String(48_000 + index * 3),
  key: `WEB-${900 + index}`,
  fields: {
    summary: index === 171 ? 'Login page stays blank in Safari' : sentence(random).slice(0, -1),
    description: sentences(random, 3 + random(5)),
    status: { id: String(random(5)), name: pick(random, ['Open', 'In progress', 'Blocked', 'In review', 'Done']) },
    priority: pick(random, ['low', 'medium', 'high', 'urgent']),
    reporter: person(random),
    assignee:
      index === 171
        ? { accountId: token(random, 12), displayName: 'Ingrid Solheim', emailAddress: null }
        : random(4) === 0
          ? null
          : person(random),
    labels: Array.from({ length: random(4) }, () => pick(random, ['frontend', 'export', 'billing', 'regression'])),
    votes: index === 138 ? 412 : random(90),
    created: time(random),
    resolved: random(3) === 0 ? time(random) : null,
    customfield_10012: null,
    customfield_10013: random(6) === 0 ? 1 + random(13) : null,
    customfield_10020: null,
    customfield_10031: random(8) === 0 ? { value: pick(random, ['Q1', 'Q2', 'Q3']) } : null,
    comment: { total: comments.length, comments },
  },
})

/** A page of an issue tracker: long texts, comments in each ticket, custom fields that are mostly null. */
const makeTickets = (): object => {
  const random = createRandom(101)
  const issues = Array.from({ length: 240 }, (_, index) => {
    const comments = Array.from({ length: index === 203 ? 6 : random(5) }, (_unused, nth) => ({
      id: String(90_000 + index * 10 + nth),
      author: person(random),
      body:
        index === 203 && nth === 4
          ? 'I asked: the certificate of the payment host expires on 14 August, so we have to renew it first.'
          : sentences(random, 1 + random(3)),
      created: time(random),
    }))
    return makeIssue(random, index, comments)
  })
  return { expand: 'schema,names', startAt: 0, maxResults: 240, total: 1_731, isLast: false, issues }
}

const SERVICES = ['cart', 'catalog', 'checkout', 'image-resizer', 'ledger', 'mailer', 'pricing', 'reviews', 'stock']

/** The list of pods of a cluster: deep and repetitive. */
const makePods = (): object => {
  const random = createRandom(102)
  const items = Array.from({ length: 300 }, (_, index) => {
    const broken = index === 222
    const greedy = index === 163
    const service = broken ? 'tax-exporter' : greedy ? 'thumbnail-batch' : pick(random, SERVICES)
    const hash = token(random, 10)
    const started = time(random)
    return {
      metadata: {
        name: `${service}-${hash}-${token(random, 5)}`,
        generateName: `${service}-${hash}-`,
        namespace: pick(random, ['shop', 'shop', 'shop-staging', 'platform']),
        uid: `${token(random, 8, '0123456789abcdef')}-${token(random, 4, '0123456789abcdef')}-4c1e-9b7d`,
        resourceVersion: String(7_000_000 + random(900_000)),
        creationTimestamp: started,
        deletionTimestamp: null,
        labels: { app: service, 'pod-template-hash': hash, tier: pick(random, ['web', 'worker']) },
        annotations: { 'checksum/config': token(random, 40, '0123456789abcdef') },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${service}-${hash}`, controller: true }],
      },
      spec: {
        nodeName: `node-${padded(random(24), 2)}.eu.example.net`,
        restartPolicy: 'Always',
        serviceAccountName: service,
        priority: null,
        containers: [
          {
            name: service,
            image: `registry.example.net/shop/${service}:1.${random(40)}.${random(10)}`,
            args: ['--port=8080', `--workers=${1 + random(8)}`],
            env: [
              { name: 'LOG_LEVEL', value: pick(random, ['info', 'warn', 'debug']) },
              { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: `${service}-db`, key: 'dsn' } } },
            ],
            resources: {
              requests: { cpu: `${50 * (1 + random(8))}m`, memory: `${64 * (1 + random(8))}Mi` },
              limits: { cpu: '1', memory: greedy ? '3584Mi' : `${256 * (1 + random(6))}Mi` },
            },
            readinessProbe: { httpGet: { path: '/ready', port: 8_080 }, periodSeconds: 10, failureThreshold: 3 },
          },
          {
            name: 'log-shipper',
            image: 'registry.example.net/platform/log-shipper:0.9.4',
            args: [],
            env: [],
            resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: null },
          },
        ],
        tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', tolerationSeconds: 300 }],
      },
      status: {
        phase: broken ? 'Pending' : 'Running',
        podIP: `10.42.${random(24)}.${1 + random(250)}`,
        startTime: started,
        conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(type => ({
          type,
          status: broken && type !== 'PodScheduled' ? 'False' : 'True',
          lastProbeTime: null,
          lastTransitionTime: started,
        })),
        containerStatuses: [
          {
            name: service,
            ready: !broken,
            restartCount: index === 257 ? 187 : random(6),
            state: broken
              ? { waiting: { reason: 'CreateContainerConfigError', message: 'key dsn is missing in tax-exporter-db' } }
              : { running: { startedAt: started } },
            lastState: {},
          },
        ],
        qosClass: 'Burstable',
      },
    }
  })
  return { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '7931442', continue: null }, items }
}

const GOODS = ['Cable drum', 'Drill bit', 'Floor mat', 'Ladder', 'Paint roller', 'Saw blade', 'Screw box', 'Work lamp']
const FIRMS = ['Alder & Sons', 'Brightwater Ltd', 'Cobalt Works', 'Dunmore Supplies', 'Easel House', 'Fenwick Group']

const money = (cents: number): string => (cents / 100).toFixed(2)

/** A page of invoices as XML: nested lines, attributes, empty elements. */
const makeInvoices = (): string => {
  const random = createRandom(103)
  const invoices = Array.from({ length: 280 }, (_, index) => {
    const lines = Array.from({ length: 1 + random(5) }, (_unused, nth) => {
      const rare = index === 192 && nth === 0
      const quantity = 1 + random(12)
      const cents = index === 107 && nth === 0 ? 412_375 : 200 + random(9_000)
      return {
        cents: quantity * cents,
        text: `      <line number="${nth + 1}" sku="SKU-${padded(random(100_000), 5)}">
        <description>${rare ? 'Crane rental, half a day' : pick(random, GOODS)}</description>
        <quantity>${quantity}</quantity>
        <unitPrice currency="EUR">${money(cents)}</unitPrice>
      </line>`,
      }
    })
    const total = lines.reduce((sum, { cents }) => sum + cents, 0)
    const firm = index === 241 ? 'Northgate Observatory' : pick(random, FIRMS).replace('&', '&amp;')
    return `  <invoice id="INV-2026-${padded(index + 1, 4)}" status="${pick(random, ['paid', 'open', 'overdue'])}">
    <issued>${day(random)}</issued>
    <customer reference="C${10_000 + random(80_000)}">
      <name>${firm}</name>
      <vatNumber/>
    </customer>
    <lines>
${lines.map(({ text }) => text).join('\n')}
    </lines>
    <total currency="EUR">${money(total)}</total>
    <note>${random(5) === 0 ? sentence(random) : ''}</note>
  </invoice>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<invoices page="1" pages="7" xmlns="urn:example:billing:v2">
${invoices.join('\n')}
  <next href="/v2/invoices?page=2"/>
</invoices>
`
}

const ROUTES = ['/cart', '/cart/items', '/checkout', '/login', '/products', '/products/{id}', '/reviews', '/search']
const REGIONS = ['ap-east', 'ca-central', 'eu-north', 'eu-west', 'sa-south', 'us-east', 'us-west']

/** Metrics in the text format that Prometheus reads. */
const makeMetrics = (): string => {
  const random = createRandom(104)
  const out: string[] = []
  const begin = (name: string, type: string, help: string) =>
    out.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
  begin('http_requests_total', 'counter', 'Requests that were answered, by route, method and status.')
  for (const region of REGIONS) {
    for (const route of ROUTES) {
      for (const status of ['200', '304', '404', '500']) {
        const hot = region === 'sa-south' && route === '/reviews' && status === '500'
        const count = hot ? 91_377 : status === '500' ? random(900) : 1_000 + random(2_000_000)
        out.push(`http_requests_total{region="${region}",route="${route}",method="GET",status="${status}"} ${count}`)
      }
    }
  }
  begin('http_request_duration_seconds', 'histogram', 'Time until the last byte of the answer was sent.')
  for (const region of REGIONS) {
    for (const route of ROUTES) {
      let count = 0
      const labels = `region="${region}",route="${route}"`
      for (const bound of ['0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '+Inf']) {
        count += random(40_000)
        out.push(`http_request_duration_seconds_bucket{${labels},le="${bound}"} ${count}`)
      }
      out.push(`http_request_duration_seconds_sum{${labels}} ${(count * (1 + random(400))) / 1_000}`)
      out.push(`http_request_duration_seconds_count{${labels}} ${count}`)
    }
  }
  begin('queue_depth', 'gauge', 'Messages that wait in a queue.')
  for (const region of REGIONS) {
    for (const queue of ['emails', 'exports', 'imports', 'refunds', 'thumbnails', 'webhooks']) {
      const stuck = region === 'eu-north' && queue === 'refunds'
      out.push(`queue_depth{queue="${queue}",region="${region}"} ${stuck ? 184_209 : random(700)}`)
    }
  }
  begin('cache_evictions_total', 'counter', 'Entries dropped before their time because the slab was full.')
  for (const region of REGIONS) out.push(`cache_evictions_total{region="${region}"} ${random(60_000)}`)
  begin('build_info', 'gauge', 'Always 1; the labels tell what is deployed.')
  for (const region of REGIONS) {
    const version = region === 'ca-central' ? '5.18.0-hotfix3' : '5.19.2'
    out.push(`build_info{region="${region}",version="${version}",commit="${token(random, 8, '0123456789abcdef')}"} 1`)
  }
  return `${out.join('\n')}\n`
}

const PLACES = ['Aberdovey', 'Brest', 'Cuxhaven', 'Delfzijl', 'Esbjerg', 'Falmouth', 'Galway', 'Harlingen', 'Inverness']
const TOPICS = ['dredging', 'ferries', 'fishing', 'harbours', 'lighthouses', 'pilots', 'salvage', 'weather']
const NEWS = [
  'The council approved the plan after a long debate',
  'Nobody was hurt, but the pier will stay closed',
  'The new timetable starts next month',
  'Repairs will cost more than was expected',
  'Residents had asked for the change for years',
  'Two tugs were needed to pull the ship free',
  'The storm had damaged the roof of the station',
]

const news = (random: Random, count: number): string =>
  Array.from({ length: count }, () => `${pick(random, NEWS)}.`).join(' ')

/** An answer of a search engine: hits with long texts and highlights, and counts of the tags at the end. */
const makeHits = (): object => {
  const random = createRandom(105)
  const hits = Array.from({ length: 200 }, (_, index) => {
    const place = index === 144 ? 'Oban' : pick(random, PLACES)
    const topic = pick(random, TOPICS)
    const whale = index === 177
    const body = whale
      ? `${news(random, 4)} A sperm whale of fourteen metres swam into the inner basin on Tuesday. ${news(random, 5)}`
      : news(random, 6 + random(10))
    return {
      _index: 'articles-v3',
      _id: token(random, 20),
      _score: Number((18 - index * 0.07).toFixed(4)),
      _source: {
        title: `${place}: news about ${topic}`,
        author:
          index === 144 ? { name: 'Morag Sinclair', desk: 'west coast' } : { name: pick(random, PEOPLE), desk: null },
        published: time(random),
        tags: [topic, pick(random, TOPICS)],
        body,
        pictures: random(4) === 0 ? [{ url: `https://img.example.org/${token(random, 10)}.jpg`, width: 1_600 }] : [],
        corrected: null,
      },
      highlight: {
        body: [
          whale
            ? 'A <em>sperm whale</em> of fourteen metres swam into the inner basin'
            : `${pick(random, NEWS)} in the <em>harbour</em>`,
        ],
      },
      sort: [18_000 - index * 70, index],
    }
  })
  const buckets = [...TOPICS, 'tide tables'].map((key, index) => ({
    key,
    doc_count: key === 'tide tables' ? 61_843 : 9_000 - index * 731,
  }))
  return {
    took: 41,
    timed_out: false,
    _shards: { total: 12, successful: 12, skipped: 0, failed: 0 },
    hits: { total: { value: 10_000, relation: 'gte' }, max_score: 18, hits },
    aggregations: { tags: { doc_count_error_upper_bound: 0, sum_other_doc_count: 22_817, buckets } },
  }
}

const NAMES = ['Owen', 'Marta', 'Yusuf', 'Elin', 'Pavel', 'Grace', 'Theo']
const CHAT = [
  'See you at the boathouse',
  'Who brings the tent?',
  'I am ten minutes late, sorry',
  'The forecast looks good for Saturday',
  'Can somebody pick up the bread?',
  'My phone was off all day',
  'Thanks, that was a lovely evening',
]

/** An exported chat: the text of a message is a string or a list of strings and objects, as the message needs. */
const makeChat = (): object => {
  const random = createRandom(106)
  const messages = Array.from({ length: 900 }, (_, index) => {
    const seconds = 1_770_000_000 + index * 3_613 + random(3_000)
    const date = new Date(seconds * 1_000).toISOString().slice(0, 19)
    const base = { id: 20_000 + index, date, date_unixtime: String(seconds) }
    if (index % 90 === 45) {
      const other = `${pick(random, NAMES)} ${pick(random, ['K.', 'P.', 'W.'])}`
      const joined = index === 855 ? 'Rosalind Achterberg' : other
      return { ...base, type: 'service', actor: pick(random, NAMES), action: 'invite_members', members: [joined] }
    }
    if (index === 431) {
      const text = ['The code of the side door is ', { type: 'code', text: '7741-KB' }, ', please do not forward it']
      return { ...base, type: 'message', from: 'Marta', from_id: 'user104', text }
    }
    if (index === 702) {
      const text = [
        'Here is the timetable of the ferry: ',
        { type: 'link', text: 'https://ferries.example.org/2026/skerry-isle.pdf' },
      ]
      return { ...base, type: 'message', from: 'Owen', from_id: 'user101', text }
    }
    const kind = random(12)
    const message = { ...base, type: 'message', from: pick(random, NAMES), from_id: `user${101 + random(7)}` }
    if (kind === 0) {
      const file = `photos/photo_${index}@${date.slice(0, 10)}.jpg`
      return { ...message, photo: file, width: 1_280, height: 720 + random(400), text: '' }
    }
    if (kind === 1) {
      const text = [`${pick(random, CHAT)} `, { type: 'bold', text: pick(random, ['today', 'tomorrow']) }]
      return { ...message, reply_to_message_id: 20_000 + random(index + 1), text }
    }
    if (kind === 2) return { ...message, media_type: 'voice_message', duration_seconds: 2 + random(80), text: '' }
    return { ...message, text: pick(random, CHAT) }
  })
  return { name: 'Rowing club', type: 'private_supergroup', id: 1_482_663_017, messages }
}

/** A list of payments: wide records, most fields of which are null. */
const makeCharges = (): object => {
  const random = createRandom(107)
  const data = Array.from({ length: 400 }, (_, index) => {
    const failed = random(9) === 0 || index === 288
    const id = `ch_${token(random, 16)}`
    return {
      id,
      object: 'charge',
      amount: index === 319 ? 1_894_350 : 500 + random(90_000),
      amount_captured: 0,
      amount_refunded: 0,
      application: null,
      application_fee: null,
      balance_transaction: failed ? null : `txn_${token(random, 16)}`,
      billing_details: {
        address: { city: null, country: pick(random, ['DE', 'FR', 'NL', 'SE', 'PT']), line1: null, line2: null },
        email: index === 288 ? 'petra.quist@example.net' : `buyer${random(5_000)}@example.com`,
        name: null,
        phone: null,
      },
      captured: !failed,
      created: 1_780_000_000 + index * 911,
      currency: 'eur',
      customer: `cus_${token(random, 12)}`,
      description: null,
      disputed: false,
      failure_code: failed ? (index === 288 ? 'card_velocity_exceeded' : 'card_declined') : null,
      failure_message: failed ? 'The card was refused.' : null,
      fraud_details: {},
      livemode: true,
      metadata: {
        order_ref: index === 237 ? 'R-77120' : `S-${padded(random(100_000), 5)}`,
        channel: pick(random, ['web', 'shop', 'phone']),
      },
      on_behalf_of: null,
      outcome: {
        network_status: failed ? 'declined_by_network' : 'approved_by_network',
        reason: null,
        risk_score: random(70),
      },
      payment_method_details: {
        card: {
          brand: pick(random, ['visa', 'mastercard', 'amex']),
          exp_month: 1 + random(12),
          exp_year: 2_027 + random(5),
          last4: padded(random(10_000), 4),
          three_d_secure: null,
          wallet: null,
        },
        type: 'card',
      },
      receipt_url: `https://pay.example.com/receipts/${token(random, 24)}`,
      refunded: false,
      review: null,
      shipping: null,
      source_transfer: null,
      statement_descriptor: null,
      status: failed ? 'failed' : 'succeeded',
      transfer_group: null,
    }
  })
  return { object: 'list', url: '/v1/charges', has_more: true, data }
}

const SITES = ['amsterdam', 'bogota', 'cape-town', 'dublin', 'helsinki', 'lagos', 'lima', 'osaka', 'perth', 'toronto']

/** Settings in maps of maps: site, then service, then setting. The values are of mixed types. */
const makeSettings = (): object => {
  const random = createRandom(108)
  const sites = SITES.map(site => {
    const services = SERVICES.map(service => {
      const special = `${site}/${service}`
      return [
        service,
        {
          enabled: random(12) > 0,
          replicas: 1 + random(9),
          timeoutMs: special === 'osaka/image-resizer' ? 48_750 : 100 * (1 + random(90)),
          owner: special === 'perth/mailer' ? 'team-kestrel' : pick(random, ['team-heron', 'team-otter', 'team-lynx']),
          endpoint: `https://${service}.${site}.internal.example:${8_000 + random(900)}/`,
          flags: {
            newPricing: random(2) === 0,
            sampling: special === 'lima/ledger' ? 0.8125 : random(10) / 10,
            variant: random(3) === 0 ? null : pick(random, ['a', 'b', 'control']),
          },
          retry: random(4) === 0 ? 'never' : { attempts: 1 + random(5), delaysMs: [100, 200 + random(300), 1_000] },
          maintenance: special === 'lagos/stock' ? { from: '2026-11-08', note: 'move to the hall in Ikeja' } : null,
        },
      ]
    })
    return [site, { zone: `${site.slice(0, 3)}1`, services: Object.fromEntries(services) }]
  })
  return { revision: 5_512, generatedBy: 'settings-service', sites: Object.fromEntries(sites) }
}

const THINGS = [
  'Aisle',
  'Belt',
  'Bin',
  'Carrier',
  'Conveyor',
  'Crate',
  'Dock',
  'Forklift',
  'Lane',
  'Order',
  'Pallet',
  'Picker',
  'Rack',
  'Scanner',
  'Shift',
  'Shipment',
  'Sorter',
  'Truck',
  'Zone',
]

/** An OpenAPI description as YAML. */
const makeDescription = (): string => {
  const random = createRandom(109)
  const paths = THINGS.flatMap(thing => {
    const path = `${thing.toLowerCase()}s`
    const listed = `  /${path}:
    get:
      operationId: list${thing}s
      summary: Lists the ${path} of a warehouse
      parameters:
        - name: limit
          in: query
          schema: { type: integer, minimum: 1, maximum: ${50 * (1 + random(6))} }
        - name: cursor
          in: query
          schema: { type: string, nullable: true }
      responses:
        '200':
          description: A page of ${path}
          content:
            application/json:
              schema: { $ref: '#/components/schemas/${thing}Page' }
        '401': { $ref: '#/components/responses/Unauthorized' }
    post:
      operationId: create${thing}
      summary: Registers a new ${thing.toLowerCase()}
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/${thing}' }
      responses:
        '201': { description: Created }
        '409': { description: The ${thing.toLowerCase()} exists already }`
    const single = `  /${path}/{id}:
    get:
      operationId: get${thing}
      responses:
        '200': { description: One ${thing.toLowerCase()} }
        '404': { $ref: '#/components/responses/NotFound' }
    delete:
      operationId: delete${thing}
      responses:
        '204': { description: Gone }`
    const hold = `  /${path}/{id}/hold:
    delete:
      operationId: liftQuarantineHold
      summary: Ends the quarantine of a pallet
      responses:
        '204': { description: The pallet may be moved again }`
    const seal = `  /${path}/{id}/seal:
    post:
      operationId: sealShipment
      summary: Closes a shipment so that nothing can be added
      parameters:
        - name: X-Tamper-Ticket
          in: header
          required: true
          description: The number printed on the plastic seal
          schema: { type: string, pattern: '^[A-Z]{3}[0-9]{7}$' }
      responses:
        '202': { description: Accepted }`
    return [listed, single, ...(thing === 'Pallet' ? [hold] : []), ...(thing === 'Shipment' ? [seal] : [])]
  })
  const schemas = THINGS.map(thing => {
    const odometer = `
        odometer:
          type: number
          description: Hours with the fork raised, not hours of driving`
    return `    ${thing}:
      type: object
      required: [id, label]
      properties:
        id:
          type: string
          format: uuid
        label:
          type: string
          maxLength: ${20 + random(100)}
        weightKg:
          type: number
          nullable: true
        state:
          type: string
          enum: [${['free', 'busy', 'broken', 'retired'].slice(0, 2 + random(3)).join(', ')}]
        updatedAt:
          type: string
          format: date-time${thing === 'Forklift' ? odometer : ''}
    ${thing}Page:
      type: object
      properties:
        items:
          type: array
          items: { $ref: '#/components/schemas/${thing}' }
        nextCursor:
          type: string
          nullable: true`
  })
  return `openapi: 3.0.3
info:
  title: Warehouse
  version: 2026.8.1
  description: |
    Everything that stands, rolls or waits in a warehouse.
servers:
  - url: https://api.warehouse.example/v4
paths:
${paths.join('\n')}
components:
  responses:
    Unauthorized: { description: The token is missing or has expired }
    NotFound: { description: Not found }
  schemas:
${schemas.join('\n')}
`
}

export const UNSEEN_GENERATED: Readonly<Record<string, () => string>> = {
  'tickets-page': () => JSON.stringify(makeTickets()),
  'pod-list': () => JSON.stringify(makePods(), null, 2),
  'invoices-xml': makeInvoices,
  'service-metrics': makeMetrics,
  'article-hits': () => JSON.stringify(makeHits()),
  'chat-export': () => JSON.stringify(makeChat(), null, 1),
  'charges-list': () => JSON.stringify(makeCharges()),
  'site-settings': () => JSON.stringify(makeSettings()),
  'warehouse-description': makeDescription,
}
