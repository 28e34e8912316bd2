/**
 * The results of the unseen set: files from pinned packages that the other set does not use, and generated results.
 * They were chosen by somebody who did not know the replies of the tools, after the tools were finished.
 */
import type { FrozenAnswer } from './answers.ts'

const VEGA = 'vega-datasets'
const JSON_TYPE = 'application/json'

export const UNSEEN_ANSWERS: readonly FrozenAnswer[] = [
  { name: 'class-hierarchy', from: [VEGA, 'data/flare.json'], mediaType: JSON_TYPE },
  { name: 'tube-map', from: [VEGA, 'data/londonTubeLines.json'], mediaType: JSON_TYPE },
  { name: 'novel-characters', from: [VEGA, 'data/miserables.json'], mediaType: JSON_TYPE },
  { name: 'population-page', from: [VEGA, 'data/gapminder.json'], mediaType: 'text/html', form: 'html' },
  { name: 'incomes-by-line', from: [VEGA, 'data/income.json'], mediaType: 'application/x-ndjson', form: 'ndjson' },
  { name: 'candidates', from: [VEGA, 'data/political-contributions.json'], mediaType: JSON_TYPE },
  { name: 'penguins', from: [VEGA, 'data/penguins.json'], mediaType: JSON_TYPE },
  { name: 'rain-grid', from: [VEGA, 'data/annual-precip.json'], mediaType: JSON_TYPE },
  { name: 'flight-routes', from: [VEGA, 'data/flights-airport.csv'], mediaType: 'text/csv' },
  { name: 'county-rates', from: [VEGA, 'data/unemployment.tsv'], mediaType: 'text/tab-separated-values' },
  { name: 'browser-interfaces', from: ['mdn-data', 'api/inheritance.json'], mediaType: JSON_TYPE },
  { name: 'webhooks-old', from: ['@octokit/webhooks-examples', 'ghes-31/index.json'], mediaType: JSON_TYPE },
  { name: 'mailer-changes', from: ['nodemailer', 'CHANGELOG.md'], mediaType: 'text/markdown' },
  { name: 'licence-notices', from: ['typescript', 'NOTICE.txt'], mediaType: 'text/plain' },
  { name: 'japanese-messages', from: ['axe-core', 'locales/ja.json'], mediaType: JSON_TYPE },
  { name: 'tickets-page', mediaType: JSON_TYPE },
  { name: 'pod-list', mediaType: JSON_TYPE },
  { name: 'invoices-xml', mediaType: 'application/xml' },
  { name: 'service-metrics', mediaType: 'text/plain' },
  { name: 'article-hits', mediaType: JSON_TYPE },
  { name: 'chat-export', mediaType: JSON_TYPE },
  { name: 'charges-list', mediaType: JSON_TYPE },
  { name: 'site-settings', mediaType: JSON_TYPE },
  { name: 'warehouse-description', mediaType: 'application/yaml' },
]
