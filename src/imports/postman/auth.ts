import type { Pair, RequestAuth } from '../../tools/import/imported-request.ts'
import type { PostmanAuth } from './collection.schema.ts'
import type { RequestTexts } from './request-texts.ts'

/** Credentials of a request, and where they are if a header or a query parameter of any name has them. */
export type Credentials = {
  auth: RequestAuth
  header?: Pair
  query?: Pair
  /** Kinds of authentication that a tool cannot use. */
  unsupported?: readonly string[]
}

const NONE: Credentials = { auth: { kind: 'none' } }

type Reading = { texts: RequestTexts; attributes: PostmanAuth['attributes'] }

/** Returns the marked text of an attribute, or a variable that is to be given a value. */
const secretOf = ({ texts, attributes }: Reading, name: string, variable: string): string => {
  const value = attributes.get(name) ?? ''
  return value === '' ? texts.markMissing(variable) : texts.mark(value)
}

/** User and password become one value, so they are filled in as far as they are known. */
const readBasic = ({ texts, attributes }: Reading): Credentials => {
  const [user = '', password = ''] = ['username', 'password'].map(name => {
    const value = attributes.get(name) ?? ''
    return texts.expand(value) ?? texts.mark(value)
  })
  const isEmpty = user === '' && password === ''
  return { auth: { kind: 'basic', user: isEmpty ? texts.markMissing('basic_credentials') : user, password } }
}

const readApiKey = (reading: Reading): Credentials => {
  const { texts, attributes } = reading
  const name = texts.expand(attributes.get('key') ?? '') || 'X-API-Key'
  const pair = { name, value: secretOf(reading, 'value', 'api_key') }
  return attributes.get('in') === 'query' ? { ...NONE, query: pair } : { ...NONE, header: pair }
}

/** Reads where a token is sent. Both OAuth 2 and JWT have these attributes. */
const readToken = (reading: Reading, name: string, queryName: string): Credentials => {
  const { attributes } = reading
  const token = secretOf(reading, name, 'access_token')
  if (/^query/i.test(attributes.get('addTokenTo') ?? '')) return { ...NONE, query: { name: queryName, value: token } }
  const prefix = (attributes.get('headerPrefix') ?? 'Bearer').trim()
  if (prefix.toLowerCase() === 'bearer') return { auth: { kind: 'bearer', token } }
  return { ...NONE, header: { name: 'Authorization', value: prefix === '' ? token : `${prefix} ${token}` } }
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ['awsv4', 'AWS signatures'],
  ['digest', 'Digest authentication'],
  ['ntlm', 'NTLM authentication'],
  ['oauth1', 'OAuth 1'],
  ['hawk', 'Hawk authentication'],
  ['edgegrid', 'Akamai EdgeGrid'],
  ['asap', 'Atlassian ASAP'],
])

/** Attributes whose values are secrets, also those that Postman only signs or gets a token with. */
const SECRET_ATTRIBUTE = /(?:secret|password|token|.key)$/i

/** Returns the secrets among the attributes of a kind of authentication, which no text of a tool may contain. */
export const secretsOfAuth = (given: PostmanAuth | null | undefined): readonly string[] =>
  [...(given?.attributes ?? [])].flatMap(([name, value]) =>
    SECRET_ATTRIBUTE.test(name) && !value.includes('{{') ? [value] : [],
  )

/** Reads the credentials that Postman adds to a request. */
export const readAuth = (given: PostmanAuth | undefined, texts: RequestTexts): Credentials => {
  if (given === undefined) return NONE
  const { type, attributes } = given
  const reading = { texts, attributes }
  switch (type) {
    case 'noauth':
      return NONE
    case 'basic':
      return readBasic(reading)
    case 'bearer':
      return { auth: { kind: 'bearer', token: secretOf(reading, 'token', 'access_token') } }
    case 'apikey':
      return readApiKey(reading)
    case 'oauth2':
      texts.note('Postman gets a token with OAuth 2. The tool sends one that its server has.')
      return readToken(reading, 'accessToken', 'access_token')
    case 'jwt':
      texts.note('Postman signs a JWT for each request. The tool sends one that its server has.')
      return readToken(
        { texts, attributes: new Map([...attributes, ['token', '']]) },
        'token',
        attributes.get('queryParamKey') || 'token',
      )
    default: {
      const name = NAMES.get(type) ?? 'This kind of authentication'
      texts.note(`${name} cannot be imported, so the tool sends no credentials.`)
      return { ...NONE, unsupported: [name] }
    }
  }
}
