import { type Import, type ImportBaseUrl, type ImportGlobal, mayChooseAuth } from '../../imports/import.ts'
import { toAuthChoice } from './auth-choice.ts'
import { fillServerUrl, readServerUrl } from './server-urls.ts'

export type Choice = { value: string; text: string }

/** What was typed into the form, by the name of the field. */
export type TypedSettings = ReadonlyMap<string, string>

const OWN_URL = 'own'
export const NEW_SERVER = 'new'

const toBaseUrl = (
  { key, value, servers }: ImportBaseUrl,
  index: number,
  { settings }: Import,
  typed: TypedSettings,
) => {
  const current = settings.baseUrls[key] ?? value ?? ''
  const read = servers.map(server => readServerUrl(server, current))
  const matching = read.findIndex(values => values !== undefined)
  const chosen = typed.get(`base:${key}`) ?? (matching === -1 ? OWN_URL : String(matching))
  return {
    key,
    hasChoices: servers.length > 1 || servers.some(({ variables }) => variables.length > 0),
    options: servers.map((server, index) => ({
      id: `base:${key}:${index}`,
      value: String(index),
      isChosen: chosen === String(index),
      url: server.url,
      description: server.description,
      variables: server.variables.map(({ name, values, description, ...one }) => {
        const field = `var:${key}:${index}:${name}`
        return {
          field,
          name,
          description,
          options: values.map(text => ({ value: text, text })),
          value: typed.get(field) ?? read[index]?.get(name) ?? one.default ?? values[0] ?? '',
        }
      }),
    })),
    own: {
      id: `url:${key}`,
      choice: OWN_URL,
      isChosen: chosen === OWN_URL,
      value: typed.get(`url:${key}`) ?? (matching === -1 || servers.length === 0 ? current : ''),
    },
    nowId: `base-${index}-now`,
    /** The URL as it is now. */
    current,
    /** Whether the URL as it is now is not among the choices as it is. */
    isFilled: current !== '' && servers.every(({ url }) => url !== current),
    /** The URL of the only server, for the one field without choices. */
    plain: typed.get(`url:${key}`) ?? current,
  }
}

const ASKS: Readonly<Record<NonNullable<ImportGlobal['asks']>, string>> = {
  'api key': 'API key',
  basic: 'Password',
  'bearer token': 'Bearer token',
  oauth: 'Access token (sent as a bearer token)',
}

const toSecret = (
  { key, asks, description, origins }: ImportGlobal,
  index: number,
  { settings }: Import,
  filled: ReadonlySet<string>,
) => ({
  stateId: `secret-${index}-state`,
  /** Whether the servers that use the tools have a value. */
  isFilled: filled.has(key),
  id: `secret:${key}`,
  user: asks === 'basic' ? `user:${key}` : undefined,
  key,
  label: asks === undefined ? `Value of ${key}` : `${ASKS[asks]}: ${key}`,
  hasValue: settings.secretKeys.includes(key),
  drop: `drop:${key}`,
  hint: [description, origins.length === 0 ? undefined : `Sent to ${origins.join(', ')}`]
    .filter(text => text !== undefined)
    .join('. '),
})

/** Returns the keys of the base URLs and globals that have no value yet. */
export const lackingKeys = ({ summary, settings }: Import): string[] => {
  const urls = (summary?.baseUrls ?? []).filter(({ key, value }) => !(settings.baseUrls[key] ?? value))
  const globals = (summary?.globals ?? []).filter(
    ({ key, isSecret, value }) => !(isSecret ? settings.secretKeys.includes(key) : (settings.variables[key] ?? value)),
  )
  return [...urls, ...globals].map(({ key }) => key)
}

/** Returns the field of the form that is about the server: an id, `new`, or nothing. */
const serverChoiceOf = ({ settings: { server } }: Import): string => {
  if (server === undefined) return ''
  return typeof server === 'string' ? server : NEW_SERVER
}

/** Returns how requests sign in, for a description that does not say it. Undefined for others. */
const toAuth = (found: Import, typed: TypedSettings) => {
  if (!mayChooseAuth(found, found.summary?.globals ?? [])) return undefined
  const choice = toAuthChoice(found.settings.auth, 'None')
  return {
    ...choice,
    value: typed.get('auth') ?? choice.value,
    header: typed.get('authHeader') ?? choice.header,
  }
}

/** Returns the tab in which base URLs and secrets are filled in, once for all tools and for one server. */
export const toAccess = (
  found: Import,
  { servers, filled }: { servers: readonly Choice[]; filled: ReadonlySet<string> },
  typed: TypedSettings,
) => {
  const { server } = found.settings
  const globals = found.summary?.globals ?? []
  const baseUrls = (found.summary?.baseUrls ?? []).map((one, index) => toBaseUrl(one, index, found, typed))
  const secrets = globals.filter(({ isSecret }) => isSecret).map((one, index) => toSecret(one, index, found, filled))
  const newName = typeof server === 'object' ? server.newName : (found.summary?.title ?? '')
  const nowIds = baseUrls.flatMap(({ nowId, hasChoices }) => (hasChoices ? [`#${nowId}`] : []))
  return {
    server: typed.get('server') ?? serverChoiceOf(found),
    newName: typed.get('serverName') ?? newName.slice(0, 100),
    servers: [
      { value: '', text: 'No server yet: only create the tools' },
      ...servers,
      { value: NEW_SERVER, text: 'New server…' },
    ],
    baseUrls: baseUrls,
    variables: globals
      .filter(({ isSecret }) => !isSecret)
      .map(({ key, value, description }) => ({
        id: `global:${key}`,
        label: key,
        value: typed.get(`global:${key}`) ?? found.settings.variables[key] ?? value ?? '',
        hint: description,
      })),
    auth: toAuth(found, typed),
    secrets,
    /** A CSS selector of what a saved value changes on the page, apart from the fields. */
    changing: ['#tabs', ...secrets.map(({ stateId }) => `#${stateId}`), ...nowIds].join(','),
  }
}

/** Returns the URL that the form chooses for a base URL. */
export const chosenUrlOf = ({ key, servers }: ImportBaseUrl, typed: TypedSettings): string => {
  const choice = typed.get(`base:${key}`) ?? OWN_URL
  const server = choice === OWN_URL ? undefined : servers[Number(choice)]
  if (server === undefined) return (typed.get(`url:${key}`) ?? '').trim()
  return fillServerUrl(server, name => typed.get(`var:${key}:${choice}:${name}`))
}
