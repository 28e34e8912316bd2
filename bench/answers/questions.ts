/**
 * Questions about the frozen results: the fact that answers each, which was looked up by other means, and the calls that
 * find it. Each call reads the cached result of the call before if that was truncated, and else the whole frozen result.
 */
type Fields = { fields: readonly string[] }
export type AnswerCall =
  | {
      search: {
        pattern: string
        mode?: string
        top_k?: number
        context_lines?: number
        multiline?: boolean
        show?: readonly string[]
        case_insensitive?: boolean
      } & Partial<Fields>
    }
  | { filter: Partial<Fields> & { mode?: 'include' | 'exclude'; limit?: number; offset?: number } }
  | { explore: { path?: string; depth?: number; samples?: number } }

export type AnswerQuestion = {
  ask: string
  fact: string
  /** Reads what the call before found if that was cut, unless `from` is `whole`. */
  calls: readonly (AnswerCall & { from?: 'whole' })[]
}

/** Keyed by the name of the frozen result. */
export const QUESTIONS: Readonly<Record<string, readonly [AnswerQuestion, AnswerQuestion, AnswerQuestion]>> = {
  'flights-by-date': [
    {
      ask: 'Where did the flight of 25 February 2001 at 14:50 go to?',
      fact: '"destination":"ORD"',
      calls: [{ search: { pattern: '2001/02/25 14:50', show: ['destination'] } }],
    },
    {
      ask: 'Which is the last flight of the list?',
      fact: '2001/03/31 22:27',
      calls: [{ filter: { offset: 19_999, limit: 1 } }],
    },
    {
      ask: 'From where did the flight leave that was 522 minutes late?',
      fact: '"origin":"BMI"',
      calls: [{ search: { pattern: '^522$', mode: 'regex', fields: ['[].delay'], show: ['origin'] } }],
    },
  ],
  'zip-codes': [
    {
      ask: 'Which zip code has Truth Or Consequences?',
      fact: '87901',
      calls: [{ search: { pattern: 'truth or consequences', mode: 'bm25', top_k: 1 } }],
    },
    {
      ask: 'Which city has the zip code 71375?',
      fact: 'Waterproof',
      calls: [{ search: { pattern: '71375', show: ['city'] } }],
    },
    {
      ask: 'In which county is Santa Claus, Indiana?',
      fact: '"county":"Spencer"',
      calls: [{ search: { pattern: 'Santa Claus', fields: ['[].city'], show: ['state', 'county'] } }],
    },
  ],
  movies: [
    {
      ask: 'What did Spirited Away earn in the whole world?',
      fact: '"Worldwide Gross":274949886',
      calls: [{ search: { pattern: 'Spirited Away', show: ['Worldwide Gross'] } }],
    },
    {
      ask: 'Who directed Finding Nemo?',
      fact: '"Director":"Andrew Stanton"',
      calls: [{ search: { pattern: 'findng nemo', mode: 'fuzzy', fields: ['[].Title'], show: ['Director'] } }],
    },
    {
      ask: 'Which film that Miramax distributed is rated 8.9?',
      fact: 'Pulp Fiction',
      calls: [
        {
          search: {
            pattern: '^8\\.9$',
            mode: 'regex',
            fields: ['[]["IMDB Rating"]'],
            show: ['Title', 'Distributor'],
          },
        },
      ],
    },
  ],
  'bird-strikes': [
    {
      ask: 'Which airline met a Savannah sparrow in Cleveland?',
      fact: 'EXPRESSJET (CONTINENTAL EXPRS)',
      calls: [{ search: { pattern: 'Savannah sparrow', mode: 'context' } }],
    },
    {
      ask: 'What does each report hold?',
      fact: 'Speed IAS in knots',
      calls: [{ explore: {} }],
    },
    {
      ask: 'What kind of aircraft was hit at Barksdale on 9 January 1990?',
      fact: 'KC-10A',
      calls: [{ search: { pattern: '1990-01-09', mode: 'context', top_k: 3 } }],
    },
  ],
  earthquakes: [
    {
      ask: 'How strong was the earthquake 35 km south of Jarm in Afghanistan?',
      fact: '"mag":6.1',
      calls: [{ search: { pattern: '35km S of Jarm', show: ['properties.mag'] } }],
    },
    {
      ask: 'Which earthquakes near Kodiak are marked for a tsunami?',
      fact: '288km ESE of Kodiak, Alaska',
      calls: [
        {
          search: {
            pattern: '^1$',
            mode: 'regex',
            fields: ['features[].properties.tsunami'],
            show: ['properties.place'],
          },
        },
      ],
    },
    {
      ask: 'How many earthquakes does the feed count?',
      fact: '"count":1707',
      calls: [{ filter: { fields: ['metadata'] } }],
    },
  ],
  football: [
    {
      ask: 'Whom did Salzburg beat by eight to nothing?',
      fact: 'SV Grodig',
      calls: [
        { search: { pattern: '2014-08-09', mode: 'context', top_k: 50 } },
        { search: { pattern: 'Grodig', mode: 'context' } },
      ],
    },
    {
      ask: 'Which leagues are there?',
      fact: 'Primera Division',
      calls: [{ explore: { path: '[].division', samples: 5 } }],
    },
    {
      ask: 'How many matches are listed?',
      fact: '6,508',
      calls: [{ explore: {} }],
    },
  ],
  species: [
    {
      ask: 'What is the scientific name of the white-tailed deer?',
      fact: 'Odocoileus virginianus',
      calls: [{ search: { pattern: 'white tailed deer', mode: 'bm25', top_k: 1 } }],
    },
    {
      ask: 'Which code does the gap analysis give the garter snake?',
      fact: 'rCOGAx',
      calls: [{ search: { pattern: 'Gartersnke', mode: 'fuzzy', top_k: 1, context_lines: 3 } }],
    },
    {
      ask: 'Which share of county 53073 does the bullfrog live in all year?',
      fact: '0.1605',
      calls: [{ search: { pattern: '^53073$', mode: 'regex', top_k: 1, context_lines: 1 } }],
    },
  ],
  jobs: [
    {
      ask: 'How many men were blacksmiths in 1900?',
      fact: '"count":220322',
      calls: [{ search: { pattern: 'Blacksmith men 1900', mode: 'bm25', show: ['year', 'sex', 'count'], top_k: 3 } }],
    },
    {
      ask: 'How many women drove locomotives in 1900?',
      fact: '"count":100',
      calls: [
        {
          search: {
            pattern: 'locomotive engineer women 1900',
            mode: 'bm25',
            show: ['job', 'year', 'sex', 'count'],
            top_k: 3,
          },
        },
      ],
    },
    {
      ask: 'Which years does the census cover?',
      fact: '1850',
      calls: [{ explore: { path: '[].year' } }],
    },
  ],
  budget: [
    {
      ask: 'Which account do fees of jukeboxes belong to?',
      fact: 'Copyright Office',
      calls: [{ search: { pattern: 'jukebox', mode: 'bm25', top_k: 1 } }],
    },
    {
      ask: 'Which agency collects fees of the Tax Court for independent counsel?',
      fact: 'Fees for Independent Counsel, Tax Court Independent Counsel, U.S. Tax Court',
      calls: [{ search: { pattern: 'Tax Court', fields: ['[]["Account name"]'] } }],
    },
    {
      ask: 'What is the source category of the first account?',
      fact: 'Individual Income Taxes',
      calls: [{ filter: { fields: ['[]["Source category name"]'], limit: 1 } }],
    },
  ],
  'share-prices': [
    {
      ask: 'Where did the index close on 13 October 2008?',
      fact: '1003.349976',
      calls: [{ search: { pattern: '2008-10-13', show: ['close'] } }],
    },
    {
      ask: 'How much was traded on the first day after 11 September 2001?',
      fact: '2330830000',
      calls: [{ search: { pattern: '2001-09-17', show: ['volume'] } }],
    },
    {
      ask: 'How high did the index open on 16 March 2020?',
      fact: '2508.590088',
      calls: [{ search: { pattern: '2020-03-16', show: ['open'] } }],
    },
  ],
  'hourly-weather': [
    {
      ask: 'How warm is it usually on 4 July at noon?',
      fact: '"temperature":"19.8"',
      calls: [{ search: { pattern: '07-04T12', show: ['temperature'] } }],
    },
    {
      ask: 'What is the pressure on Christmas Eve at six?',
      fact: '"pressure":"1017.8"',
      calls: [{ search: { pattern: '12-24T18:00', show: ['pressure'] } }],
    },
    { ask: 'How many hours are listed?', fact: '8,759', calls: [{ explore: {} }] },
  ],
  airports: [
    {
      ask: 'Which code has the airport of Telluride?',
      fact: '"iata":"TEX"',
      calls: [{ search: { pattern: 'Telluride', show: ['iata', 'city'] } }],
    },
    {
      ask: 'In which city is Thigpen?',
      fact: 'Bay Springs',
      calls: [{ search: { pattern: 'thigpn', mode: 'fuzzy', context_lines: 1 } }],
    },
    {
      ask: 'How far north is Deadhorse?',
      fact: '70.19475583',
      calls: [{ search: { pattern: 'deadhorse', mode: 'bm25', top_k: 1 } }],
    },
  ],
  'data-package': [
    {
      ask: 'Who collected the data on penguins?',
      fact: 'Kristen Gorman',
      calls: [{ search: { pattern: 'penguins collected', mode: 'bm25', top_k: 1 } }],
    },
    { ask: 'How many data sets are there?', fact: '73', calls: [{ explore: { depth: 1 } }] },
    {
      ask: 'Which data sets are there about flights?',
      fact: 'flights_airport',
      calls: [{ search: { pattern: '^flights', mode: 'regex', fields: ['resources[].name'] } }],
    },
  ],
  unemployment: [
    {
      ask: 'Which share of builders was without work in October 2009?',
      fact: '"rate":18.7',
      calls: [{ search: { pattern: 'construction 2009-10', mode: 'bm25', show: ['date', 'rate'], top_k: 3 } }],
    },
    {
      ask: 'Which share was without work in the branch of information in October 2009?',
      fact: '"rate":8.2',
      calls: [{ search: { pattern: 'information 2009-10', mode: 'bm25', show: ['date', 'rate'], top_k: 3 } }],
    },
    {
      ask: 'Which years are covered?',
      fact: '2010',
      calls: [{ explore: { path: '[].year' } }],
    },
  ],
  'daily-weather': [
    {
      ask: 'How much rain fell in Seattle on 14 November 2015?',
      fact: '"precipitation":"47.2"',
      calls: [{ search: { pattern: '2015-11-14', show: ['location', 'precipitation'] } }],
    },
    {
      ask: 'How strong was the wind in New York when Sandy came, on 29 October 2012?',
      fact: '"wind":"16.2"',
      calls: [{ search: { pattern: '2012-10-29', show: ['location', 'wind'] } }],
    },
    {
      ask: 'Which kinds of weather are told apart?',
      fact: 'drizzle',
      calls: [{ explore: { path: '[].weather' } }],
    },
  ],
  cars: [
    {
      ask: 'How heavy is the Hi 1200D?',
      fact: '"Weight_in_lbs":4732',
      calls: [{ search: { pattern: 'hi 1200d', show: ['Weight_in_lbs'] } }],
    },
    {
      ask: 'How far does a Triumph TR7 go on a gallon?',
      fact: '"Miles_per_Gallon":35',
      calls: [{ search: { pattern: 'triumph', mode: 'bm25', top_k: 1 } }],
    },
    {
      ask: 'How much horsepower has the Citroën DS 21 Pallas?',
      fact: '"Horsepower":115',
      calls: [{ search: { pattern: 'citroen', show: ['Name', 'Horsepower'] } }],
    },
  ],
  'webhooks-enterprise': [
    {
      ask: 'Which kind of secret was found?',
      fact: 'adafruit_io_key',
      calls: [{ search: { pattern: 'secret_type', top_k: 1 } }],
    },
    {
      ask: 'In which place is the cache that was synchronised?',
      fact: 'morocco',
      calls: [{ search: { pattern: 'cache_location', top_k: 2 } }],
    },
    {
      ask: 'What is the team github said to be?',
      fact: 'Open-source team',
      calls: [{ search: { pattern: 'open source team', mode: 'fuzzy', top_k: 1 } }],
    },
  ],
  'netlify-api': [
    {
      ask: 'Which operation moves a DNS zone to another account?',
      fact: 'transferDnsZone',
      calls: [
        {
          search: {
            pattern: 'transfer.*zone',
            mode: 'regex',
            fields: ['paths.*.*.operationId'],
            case_insensitive: true,
          },
        },
      ],
    },
    {
      ask: 'Which fields has a site?',
      fact: 'branch_deploy_custom_domain',
      calls: [{ explore: { path: 'definitions.site.properties', depth: 1, samples: 0 } }],
    },
    {
      ask: 'Which version of the API is described?',
      fact: '2.60.0',
      calls: [{ filter: { fields: ['info.version'] } }],
    },
  ],
  'figma-api': [
    {
      ask: 'When do rendered images expire?',
      fact: '30 days',
      calls: [{ search: { pattern: 'image assets will expire', mode: 'context' } }],
    },
    {
      ask: 'Which operation takes a reaction away from a comment?',
      fact: 'deleteCommentReaction',
      calls: [{ search: { pattern: 'operationId: delete\\w*Reaction', mode: 'regex' } }],
    },
    {
      ask: 'How many results are on a page when nobody says?',
      fact: '`page_size` is `30`',
      calls: [{ search: { pattern: 'page_size', context_lines: 3, top_k: 3 } }],
    },
  ],
  'css-properties': [
    {
      ask: 'What is the initial value of tab-size?',
      fact: '"initial":"8"',
      calls: [{ filter: { fields: ['tab-size'] } }],
    },
    {
      ask: 'Which property takes sideways-rl?',
      fact: 'writing-mode',
      calls: [{ search: { pattern: 'sideways-rl', mode: 'text' } }],
    },
    {
      ask: 'How is hyphenate-limit-chars animated?',
      fact: 'byComputedValueType',
      calls: [{ explore: { path: 'hyphenate-limit-chars' } }],
    },
  ],
  'css-words': [
    {
      ask: 'What are percentages in Russian?',
      fact: 'Проценты',
      calls: [{ filter: { fields: ['percentages.ru'] } }],
    },
    {
      ask: 'What does "Non animable" mean in English?',
      fact: 'Not animatable',
      calls: [{ search: { pattern: 'Non animable', show: ['en-US'] } }],
    },
    {
      ask: 'How is the same said in Japanese?',
      fact: 'アニメーション不可',
      calls: [{ search: { pattern: 'not animatable', mode: 'bm25', top_k: 3 } }],
    },
  ],
  'linter-schema': [
    {
      ask: 'How long may a line be set to be?',
      fact: '"maximum":320',
      calls: [{ filter: { fields: ['["$defs"].LineWidth'] } }],
    },
    {
      ask: 'Which kinds of quotes are there?',
      fact: '"double","single"',
      calls: [{ filter: { fields: ['["$defs"].QuoteStyle.enum'] } }],
    },
    {
      ask: 'Which client of version control is supported?',
      fact: 'only `git` is supported',
      calls: [{ search: { pattern: 'version-control client', mode: 'context', top_k: 3 } }],
    },
  ],
  verbs: [
    {
      ask: 'What is to defenestrate?',
      fact: 'throw through or out of the window',
      calls: [{ search: { pattern: 'defenestrate', mode: 'text' } }],
    },
    {
      ask: 'Which verb is for singing by changing register?',
      fact: 'yodel',
      calls: [{ search: { pattern: 'sing by changing register', mode: 'bm25', top_k: 1 } }],
    },
    {
      ask: 'What is it to embalm, which one has spelt embalmm?',
      fact: 'preserve a dead body',
      calls: [{ search: { pattern: 'embalmm', mode: 'fuzzy', top_k: 2 } }],
    },
  ],
  'browser-library': [
    {
      ask: 'How long is a response waited for by default?',
      fact: '30 seconds',
      calls: [{ search: { pattern: 'time in milliseconds to wait for the response', mode: 'bm25', top_k: 2 } }],
    },
    {
      ask: 'Which colour schemes can be emulated?',
      fact: 'no-preference',
      calls: [{ search: { pattern: '^\\s*colorScheme\\?:', mode: 'regex', top_k: 1 } }],
    },
    { ask: 'Whose work is the file?', fact: 'Microsoft Corporation', calls: [{ explore: {} }] },
  ],
  'movies-by-line': [
    {
      ask: 'How long is Fight Club, in minutes?',
      fact: '"Running Time min":139',
      calls: [{ search: { pattern: 'Fight Club', show: ['Running Time min'] } }],
    },
    {
      ask: 'What is The Matrix rated?',
      fact: '"IMDB Rating":8.7',
      calls: [{ search: { pattern: '^The Matrix$', mode: 'regex', show: ['IMDB Rating'] } }],
    },
    { ask: 'How many films are there?', fact: '3,201', calls: [{ explore: { depth: 1 } }] },
  ],
  'earthquakes-feed': [
    {
      ask: 'How strong was the earthquake near Sigave?',
      fact: '<mag>6</mag>',
      calls: [{ search: { pattern: 'Sigave, Wallis', context_lines: 2 } }],
    },
    {
      ask: 'Where did something explode 24 km from Battle Mountain?',
      fact: '24km WNW of Battle Mountain, Nevada',
      calls: [{ search: { pattern: 'Battle Mountian', mode: 'fuzzy', top_k: 1 } }],
    },
    {
      ask: 'Which id has the earthquake near Panguna?',
      fact: 'us2000crle',
      calls: [{ search: { pattern: 'Panguna', mode: 'text', context_lines: 6 } }],
    },
  ],
  'accounts-by-id': [
    {
      ask: 'Which account is in Samarkand?',
      fact: 'acct_000777',
      calls: [{ search: { pattern: 'Samarkand', show: ['name'] } }],
    },
    {
      ask: 'Which account has the most seats?',
      fact: 'acct_000431',
      calls: [{ explore: { path: 'accounts.*.seats' } }],
    },
    {
      ask: 'Who has the plan that only one account has?',
      fact: 'Customer 611',
      calls: [
        { explore: { path: 'accounts.*.plan' } },
        { search: { pattern: 'nonprofit', fields: ['accounts.*.plan'], show: ['name'] } },
      ],
    },
  ],
  'orders-graphql': [
    {
      ask: 'What did Ada Lovelace order?',
      fact: 'gid://shop/Order/5350',
      calls: [{ search: { pattern: 'Ada Lovelace', show: ['id', 'lineItems[].title'] } }],
    },
    {
      ask: 'What is the most expensive product?',
      fact: 'Golden Harp',
      calls: [
        { explore: { path: 'data.shop.orders.edges[].node.lineItems[].priceCents' } },
        { search: { pattern: '777700', show: ['title'], top_k: 1 } },
      ],
    },
    {
      ask: 'How many orders are there?',
      fact: '700 items',
      calls: [{ explore: { path: 'data.shop.orders.edges', depth: 1 } }],
    },
  ],
  'request-log': [
    {
      ask: 'Why did a payment fail?',
      fact: 'card expired',
      calls: [{ search: { pattern: 'payment', top_k: 3 } }],
    },
    {
      ask: 'Which customer could not pay?',
      fact: '4471',
      calls: [{ search: { pattern: 'ERROR|WARN', mode: 'regex', top_k: 3 } }],
    },
    { ask: 'How many requests were logged?', fact: '4,000 lines', calls: [{ explore: {} }] },
  ],
  'football-page': [
    {
      ask: 'Whom did Salzburg beat by eight to one?',
      fact: 'SC Wiener Neustadt',
      calls: [{ search: { pattern: '<td>8</td><td>1</td>', mode: 'text' } }],
    },
    {
      ask: 'Against whom did Dortmund play at home on 23 November 2013?',
      fact: 'FC Bayern Munchen',
      calls: [{ search: { pattern: '2013-11-23.*Borussia Dortmund</td>', mode: 'regex' } }],
    },
    {
      ask: 'How did Admira Wacker do in Vienna on the first day?',
      fact: '<td>2</td><td>0</td>',
      calls: [
        { search: { pattern: '^<tr><td>2013-07-20.*', mode: 'regex', top_k: 50 } },
        { search: { pattern: 'admira', mode: 'fuzzy', top_k: 1 } },
      ],
    },
  ],
}
