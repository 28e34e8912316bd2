import { type NamedParameter, secretRuleOf } from '../secret-parameters.ts'
import type { IsSecret, ValuePlace } from './draft-parameters.ts'

const PLACES: Readonly<Record<ValuePlace, NamedParameter['place']>> = {
  path: 'path',
  query: 'query',
  header: 'header',
  cookie: 'cookie',
  form: 'body',
  json: 'body',
  xml: 'body',
  multipart: 'body',
}

/** Returns whether a value of a pasted request is kept as a secret. */
export const isSecretValue: IsSecret = (place, name, value) =>
  secretRuleOf({ place: PLACES[place], name, value }) === 'kept'

/**
 * Returns whether a value of a pasted request is kept or offered as a secret. A number in JSON is not, and neither is a
 * variable (`$name`), whose value the request does not contain. In a path, `token` precedes a value by chance.
 */
export const mayBeSecretValue: IsSecret = (place, name, value) => {
  const rule = secretRuleOf({ place: PLACES[place], name, value })
  if (rule !== 'offered') return rule === 'kept'
  return place !== 'path' && !/^\$[\w.-]+$/.test(value) && !(place === 'json' && /^-?\d[\d.eE+-]*$/.test(value))
}

/** Labels of hosts that do not name their owner. */
const EMPTY_LABEL = /^(?:www|api|mcp|co|com|net|org|ac|gov|edu)$/

/** Returns the label of a URL's host that names its owner, such as `carrier` for `https://api.carrier.example/v1`. */
export const ownerOf = (url: string): string | undefined => {
  const [, host = ''] = /^https?:\/\/([a-z0-9.-]+)(?=[/:?]|$)/i.exec(url) ?? []
  if (/^[\d.]*$/.test(host)) return undefined
  return host
    .toLowerCase()
    .split('.')
    .slice(0, -1)
    .findLast(label => !EMPTY_LABEL.test(label))
}

/**
 * Returns the key of the secret for a parameter, such as `carrier_access_token`. Names such as `access_token` are the
 * same for many APIs, and a secret must not go to the API of another one.
 */
export const ownedKey = (parameter: string, url: string): string => {
  const owner = ownerOf(url)?.replaceAll('-', '_')
  if (owner === undefined || parameter.startsWith(owner)) return parameter
  return `${/^\d/.test(owner) ? '_' : ''}${owner}_${parameter}`.slice(0, 64)
}
