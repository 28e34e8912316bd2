/**
 * Questions about the unseen results, and the fact that answers each as it appears in the data. They were written by
 * somebody who did not know the replies of the tools, after the tools were finished. The calls are those of a language
 * model that saw the first reply of each result and the definitions of the tools, but no fact: all of them, also those
 * that did not help. Nobody changed the tools because of them.
 */
import type { AnswerQuestion } from './questions.ts'

/** Keyed by the name of the result. */
export const UNSEEN_QUESTIONS: Readonly<Record<string, readonly AnswerQuestion[]>> = {
  'class-hierarchy': [
    {
      ask: 'How big is the FibonacciHeap class?',
      fact: '9354',
      calls: [{ search: { pattern: 'FibonacciHeap', show: ['size'] }, from: 'whole' }],
    },
    {
      ask: 'What is the size of the biggest class?',
      fact: '24593',
      calls: [{ explore: { path: 'size' }, from: 'whole' }],
    },
    {
      ask: 'Which classes are in the package named distortion?',
      fact: 'FisheyeDistortion',
      calls: [{ search: { pattern: 'distortion', case_insensitive: true, show: ['*'] }, from: 'whole' }],
    },
  ],
  'tube-map': [
    {
      ask: 'At which stored coordinates does the Hammersmith & City line begin?',
      fact: '6187',
      calls: [
        { search: { pattern: 'Hammersmith', show: ['arcs'], top_k: 1 }, from: 'whole' },
        { filter: { fields: ['arcs[125][0]'] }, from: 'whole' },
      ],
    },
    { ask: 'How far north does the map reach?', fact: '51.70537309677744', calls: [] },
    {
      ask: 'Where does the very last stored arc begin?',
      fact: '8178',
      calls: [{ filter: { fields: ['arcs[404][0]'] }, from: 'whole' }],
    },
  ],
  'novel-characters': [
    {
      ask: 'Which character has the number 70?',
      fact: 'Claquesous',
      calls: [{ search: { pattern: '70', fields: ['nodes[].index'], show: ['name'] }, from: 'whole' }],
    },
    {
      ask: 'Who is alone in group 9?',
      fact: 'MotherPlutarch',
      calls: [{ search: { pattern: '9', fields: ['nodes[].group'], show: ['name'] }, from: 'whole' }],
    },
    {
      ask: 'With whom does Gillenormand appear most often?',
      fact: 'Marius',
      calls: [
        { search: { pattern: 'Gillenormand', fields: ['nodes[].name'], show: ['name', 'index'] }, from: 'whole' },
        {
          search: { pattern: '^49$', mode: 'regex', fields: ['links[].source', 'links[].target'], show: ['*'] },
          from: 'whole',
        },
        { filter: { fields: ['nodes[55].name'] }, from: 'whole' },
      ],
    },
  ],
  'population-page': [
    {
      ask: 'How many people lived in Turkey in 1985?',
      fact: '49175673',
      calls: [{ search: { pattern: '<td>1985</td><td>Turkey' }, from: 'whole' }],
    },
    {
      ask: 'What is the smallest population in the table?',
      fact: '82656',
      calls: [
        { explore: {}, from: 'whole' },
        {
          search: { pattern: '<td>\\d{1,5}</td><td>[\\d.]+</td><td>[\\d.]+</td></tr>', mode: 'regex', top_k: 20 },
          from: 'whole',
        },
      ],
    },
    {
      ask: 'How many inhabitants had the country with 8.23 children per woman?',
      fact: '3896367',
      calls: [{ search: { pattern: '<td>8.23</td>' }, from: 'whole' }],
    },
  ],
  'incomes-by-line': [
    {
      ask: 'How many households are there in North Dakota?',
      fact: '291468',
      calls: [{ search: { pattern: 'North Dakota', show: ['total'], top_k: 1 }, from: 'whole' }],
    },
    {
      ask: 'Which share of the households of Utah earns 50,000 to 75,000 dollars?',
      fact: '0.213',
      calls: [
        { search: { pattern: '"Utah".*50000 to 74999', mode: 'regex', show: ['pct'] }, from: 'whole' },
        { search: { pattern: 'Utah 50000 to 74999', mode: 'bm25', top_k: 1 }, from: 'whole' },
      ],
    },
    {
      ask: 'How many households has the state with the fewest?',
      fact: '222679',
      calls: [{ explore: { path: 'total' }, from: 'whole' }],
    },
  ],
  candidates: [
    {
      ask: 'Who ran for the party with the abbreviation AIP?',
      fact: 'SHOEMAKER, FRANKLIN ED',
      calls: [{ search: { pattern: 'AIP', fields: ['Party_Affiliation'], show: ['Candidate_Name'] }, from: 'whole' }],
    },
    {
      ask: 'How much cash had James Marchbanks left at the end?',
      fact: '15923.18',
      calls: [
        {
          search: { pattern: 'Marchbanks', case_insensitive: true, show: ['Candidate_Name', 'Ending_Cash'] },
          from: 'whole',
        },
      ],
    },
    {
      ask: 'Which candidate received the most money in total?',
      fact: 'WADE, KEVIN L',
      calls: [
        { explore: { path: 'Total_Receipts' }, from: 'whole' },
        { filter: { fields: ['Candidate_Name', 'Total_Receipts'], offset: 49, limit: 1 }, from: 'whole' },
      ],
    },
  ],
  penguins: [
    {
      ask: 'How heavy is the penguin whose beak is 59.6 mm long?',
      fact: '6050',
      calls: [{ search: { pattern: '59.6', fields: ['Beak Length (mm)'], show: ['Body Mass (g)'] }, from: 'whole' }],
    },
    {
      ask: 'What does the lightest penguin weigh?',
      fact: '2700',
      calls: [{ explore: { path: 'Body Mass (g)' }, from: 'whole' }],
    },
    {
      ask: 'How long is the beak of the last penguin in the list?',
      fact: '49.9',
      calls: [{ filter: { fields: ['Beak Length (mm)'], offset: 343 }, from: 'whole' }],
    },
  ],
  'rain-grid': [
    {
      ask: 'What is the highest amount of rain in the grid?',
      fact: '20195',
      calls: [{ explore: { path: 'values' }, from: 'whole' }],
    },
    {
      ask: 'The values run row by row: how much rain is in the 100th row at the 120th column?',
      fact: '2177',
      calls: [{ filter: { fields: ['values'], offset: 35_759, limit: 1 }, from: 'whole' }],
    },
    {
      ask: 'Which value stands directly before the highest one?',
      fact: '2968',
      calls: [{ filter: { fields: ['values'], offset: 33_074, limit: 2 }, from: 'whole' }],
    },
  ],
  'flight-routes': [
    {
      ask: 'How many flights went from Honolulu (HNL) to Lihue (LIH)?',
      fact: '10769',
      calls: [
        { search: { pattern: 'HNL,LIH' }, from: 'whole' },
        { search: { pattern: 'HNL LIH', mode: 'bm25', top_k: 2 }, from: 'whole' },
      ],
    },
    {
      ask: 'How many flights has the busiest route?',
      fact: '13788',
      calls: [{ explore: { path: 'count' }, from: 'whole' }],
    },
    {
      ask: 'How many flights went from Salt Lake City (SLC) to Denver (DEN)?',
      fact: '9269',
      calls: [
        { search: { pattern: 'SLC,DEN' }, from: 'whole' },
        { search: { pattern: 'SLC DEN', mode: 'bm25', top_k: 2 }, from: 'whole' },
      ],
    },
  ],
  'county-rates': [
    {
      ask: 'What is the unemployment rate of county 47151?',
      fact: '.184',
      calls: [{ search: { pattern: '47151', fields: ['id'], show: ['rate'] }, from: 'whole' }],
    },
    {
      ask: 'Which county has an unemployment rate of exactly 16.6 percent?',
      fact: '28051',
      calls: [{ search: { pattern: '^0?\\.166$', mode: 'regex', fields: ['rate'], show: ['id'] }, from: 'whole' }],
    },
    {
      ask: 'Which county has the second-highest unemployment rate?',
      fact: '72147',
      calls: [
        {
          search: { pattern: '^0?\\.(2[89]|[3-9])', mode: 'regex', fields: ['rate'], show: ['id', 'rate'], top_k: 20 },
          from: 'whole',
        },
        {
          search: { pattern: '^0?\\.2[5-7]', mode: 'regex', fields: ['rate'], show: ['id', 'rate'], top_k: 20 },
          from: 'whole',
        },
      ],
    },
  ],
  'browser-interfaces': [
    {
      ask: 'From which interface does PaymentMethodChangeEvent inherit?',
      fact: 'PaymentRequestUpdateEvent',
      calls: [{ filter: { fields: ['PaymentMethodChangeEvent.inherits'] }, from: 'whole' }],
    },
    {
      ask: 'Which interface inherits from WebGLRenderingContext?',
      fact: 'WebGL2RenderingContext',
      calls: [{ search: { pattern: 'WebGLRenderingContext', fields: ['*.inherits'] }, from: 'whole' }],
    },
    {
      ask: 'Which mixin does SVGPathElement implement?',
      fact: 'SVGAnimatedPathData',
      calls: [{ filter: { fields: ['SVGPathElement.implements'] }, from: 'whole' }],
    },
  ],
  'webhooks-old': [
    {
      ask: 'Which CVE is in the example of a security advisory?',
      fact: 'CVE-2018-6188',
      calls: [{ search: { pattern: 'CVE-', top_k: 3 }, from: 'whole' }],
    },
    {
      ask: 'What type of secret was found in the example of a secret scanning alert?',
      fact: 'adafruit_io_key',
      calls: [{ search: { pattern: 'secret_type', top_k: 3 }, from: 'whole' }],
    },
    {
      ask: 'How long did the build take in the example of a page build?',
      fact: '6917',
      calls: [{ search: { pattern: 'duration', top_k: 3 }, from: 'whole' }],
    },
  ],
  'mailer-changes': [
    {
      ask: 'In which version were the settings of Seznam added?',
      fact: '[6.10.0]',
      calls: [
        { search: { pattern: 'Seznam' }, from: 'whole' },
        { search: { pattern: 'Seznam', context_lines: 8, top_k: 1 }, from: 'whole' },
      ],
    },
    {
      ask: 'What got better in version 4.4.1?',
      fact: 'unexpectedly dropping connections',
      calls: [{ search: { pattern: '4.4.1', context_lines: 4, top_k: 3 }, from: 'whole' }],
    },
    {
      ask: 'From which date is the oldest version in the change log?',
      fact: '2013-07-25',
      calls: [
        { explore: {}, from: 'whole' },
        { filter: { offset: 1_455 }, from: 'whole' },
      ],
    },
  ],
  'licence-notices': [
    {
      ask: 'Which version of go-osstat by mackerelio is used?',
      fact: 'v0.2.7',
      calls: [{ search: { pattern: 'go-osstat' }, from: 'whole' }],
    },
    {
      ask: 'Which commit of the watcher of parcel-bundler is used?',
      fact: '8926bb8b281733bbfcaf69bb4e62ab7a1431c42a',
      calls: [{ search: { pattern: 'parcel-bundler/watcher' }, from: 'whole' }],
    },
    {
      ask: 'What does the paragraph on non-circumvention in the W3C agreement forbid?',
      fact: 'circumventing my obligations',
      calls: [
        { search: { pattern: 'circumvention', case_insensitive: true, context_lines: 2, top_k: 2 }, from: 'whole' },
      ],
    },
  ],
  'japanese-messages': [
    {
      ask: 'What is the Japanese message for a page without any heading?',
      fact: 'ページに見出しが存在しません',
      calls: [
        { search: { pattern: 'ページ 見出し', mode: 'bm25', top_k: 3 }, from: 'whole' },
        { filter: { fields: ['checks.header-present.fail', 'checks.page-has-heading-one.fail'] }, from: 'whole' },
      ],
    },
    {
      ask: 'What does the skip-link check say in Japanese when it fails?',
      fact: 'スキップリンクのターゲットがありません',
      calls: [{ filter: { fields: ['checks.skip-link.fail'] }, from: 'whole' }],
    },
    {
      ask: 'Which text does the target-size check show in Japanese if the content overflows?',
      fact: 'コンテンツがオーバーフローした',
      calls: [{ filter: { fields: ['checks.target-size'] }, from: 'whole' }],
    },
  ],
  'tickets-page': [
    {
      ask: 'Who is assigned to the ticket about the blank login page in Safari?',
      fact: 'Ingrid Solheim',
      calls: [
        {
          search: {
            pattern: 'blank login page Safari',
            mode: 'bm25',
            fields: ['issues[].fields.summary'],
            show: ['fields.summary', 'fields.assignee.displayName'],
            top_k: 1,
          },
          from: 'whole',
        },
      ],
    },
    {
      ask: 'When does the certificate of the payment host expire?',
      fact: '14 August',
      calls: [
        {
          search: {
            pattern: 'certificate payment host expires',
            mode: 'bm25',
            top_k: 1,
            show: ['key', 'fields.summary', 'fields.description'],
          },
          from: 'whole',
        },
        { filter: { fields: ['issues[203].fields.comment.comments[].body'] }, from: 'whole' },
      ],
    },
    {
      ask: 'Which ticket has the most votes?',
      fact: 'WEB-1038',
      calls: [
        { explore: { path: 'issues[].fields.votes' }, from: 'whole' },
        { filter: { fields: ['issues[138].key', 'issues[138].fields.summary'] }, from: 'whole' },
      ],
    },
  ],
  'pod-list': [
    {
      ask: 'Why does the pod of the tax-exporter not start?',
      fact: 'key dsn is missing in tax-exporter-db',
      calls: [
        {
          search: {
            pattern: 'tax-exporter',
            fields: ['items[].metadata.name'],
            show: ['status.phase', 'status.containerStatuses[].state'],
            top_k: 2,
          },
          from: 'whole',
        },
      ],
    },
    {
      ask: 'How much memory may the thumbnail-batch container use at most?',
      fact: '3584Mi',
      calls: [
        {
          search: {
            pattern: 'thumbnail-batch',
            fields: ['items[].spec.containers[].name'],
            show: ['resources'],
            top_k: 1,
          },
          from: 'whole',
        },
      ],
    },
    {
      ask: 'Which pod was restarted most often?',
      fact: 'pricing-5ql4fdqzqr-dgvvz',
      calls: [
        { explore: { path: 'items[].status.containerStatuses[].restartCount' }, from: 'whole' },
        { filter: { fields: ['items[257].metadata.name'] }, from: 'whole' },
      ],
    },
  ],
  'invoices-xml': [
    {
      ask: 'On which invoice is a crane rental?',
      fact: 'INV-2026-0193',
      calls: [{ search: { pattern: 'crane rental', case_insensitive: true, context_lines: 10 }, from: 'whole' }],
    },
    {
      ask: 'How much is the invoice for the Northgate Observatory in total?',
      fact: '690.74',
      calls: [
        {
          search: { pattern: 'Northgate Observatory[\\s\\S]*?</total>', mode: 'regex', multiline: true },
          from: 'whole',
        },
      ],
    },
    {
      ask: 'What is the total of the highest invoice?',
      fact: '42264.96',
      calls: [{ search: { pattern: '<total currency="...">\\d{5,}', mode: 'regex', top_k: 10 }, from: 'whole' }],
    },
  ],
  'service-metrics': [
    {
      ask: 'How many messages wait in the refunds queue of eu-north?',
      fact: '184209',
      calls: [{ search: { pattern: 'refunds.*eu-north|eu-north.*refunds', mode: 'regex', top_k: 3 }, from: 'whole' }],
    },
    {
      ask: 'How many errors with status 500 has the route and region with the most?',
      fact: '91377',
      calls: [
        {
          search: { pattern: 'http_requests_total.*status="500".* \\d{4,}$', mode: 'regex', top_k: 10 },
          from: 'whole',
        },
      ],
    },
    {
      ask: 'Which version runs in the region that is not on 5.19.2?',
      fact: '5.18.0-hotfix3',
      calls: [{ search: { pattern: 'version=', top_k: 10 }, from: 'whole' }],
    },
  ],
  'article-hits': [
    {
      ask: 'Who wrote the article from Oban?',
      fact: 'Morag Sinclair',
      calls: [
        {
          search: {
            pattern: 'Oban',
            fields: ['hits.hits[]._source.title'],
            show: ['_source.title', '_source.author.name'],
            top_k: 3,
          },
          from: 'whole',
        },
      ],
    },
    {
      ask: 'What did the sperm whale do?',
      fact: 'swam into the inner basin',
      calls: [{ search: { pattern: 'sperm whale', mode: 'context', top_k: 2 }, from: 'whole' }],
    },
    { ask: 'How many articles have the tag for tide tables?', fact: '61843', calls: [] },
  ],
  'chat-export': [
    {
      ask: 'What is the code of the side door?',
      fact: '7741-KB',
      calls: [{ search: { pattern: 'side door', show: ['text'], top_k: 3 }, from: 'whole' }],
    },
    {
      ask: 'Where is the timetable of the ferry that Owen shared?',
      fact: 'skerry-isle.pdf',
      calls: [{ search: { pattern: 'ferry', show: ['from', 'text'], top_k: 3 }, from: 'whole' }],
    },
    {
      ask: 'Who was the last person invited to the group?',
      fact: 'Rosalind Achterberg',
      calls: [
        { search: { pattern: 'invite', show: ['*'], top_k: 5 }, from: 'whole' },
        { search: { pattern: 'invite_members', show: ['date', 'members'], top_k: 10 }, from: 'whole' },
      ],
    },
  ],
  'charges-list': [
    {
      ask: 'With which code did the payment of petra.quist@example.net fail?',
      fact: 'card_velocity_exceeded',
      calls: [{ search: { pattern: 'petra.quist@example.net', show: ['failure_code'], top_k: 1 }, from: 'whole' }],
    },
    {
      ask: 'Which charge belongs to order R-77120?',
      fact: 'ch_rvwww7trq6j4zt7x',
      calls: [{ search: { pattern: 'R-77120', show: ['id'], top_k: 2 }, from: 'whole' }],
    },
    {
      ask: 'What is the largest amount that was charged?',
      fact: '1894350',
      calls: [{ explore: { path: 'data[].amount' }, from: 'whole' }],
    },
  ],
  'site-settings': [
    {
      ask: 'After how many milliseconds does the image-resizer in Osaka time out?',
      fact: '48750',
      calls: [
        { filter: { fields: ['sites.osaka.services.image-resizer.*imeout*'] }, from: 'whole' },
        { filter: { fields: ['sites.osaka.services.image-resizer'] }, from: 'whole' },
      ],
    },
    {
      ask: 'What is the address of the service that team-kestrel owns?',
      fact: 'mailer.perth.internal.example:8561',
      calls: [{ search: { pattern: 'team-kestrel', show: ['*'] }, from: 'whole' }],
    },
    {
      ask: 'When does the maintenance of the stock service in Lagos begin?',
      fact: '2026-11-08',
      calls: [{ filter: { fields: ['sites.lagos.services.stock'] }, from: 'whole' }],
    },
  ],
  'warehouse-description': [
    {
      ask: 'What is the operation called that ends the quarantine of a pallet?',
      fact: 'liftQuarantineHold',
      calls: [{ search: { pattern: 'quarantine', top_k: 5, context_lines: 2 }, from: 'whole' }],
    },
    {
      ask: 'Which header must be sent to seal a shipment?',
      fact: 'X-Tamper-Ticket',
      calls: [{ search: { pattern: 'shipments/{id}/seal', context_lines: 14 }, from: 'whole' }],
    },
    {
      ask: 'What does the odometer of a forklift count?',
      fact: 'Hours with the fork raised',
      calls: [{ search: { pattern: 'odometer', context_lines: 3 }, from: 'whole' }],
    },
  ],
}
