import { GIVEN_SECURITY, toGivenSecurity } from '../../imports/openapi/security.ts'
import { AppError } from '../../lib/kernel/errors.ts'

const HEADER = 'header'

const HOWS = [
  { value: 'bearer', text: 'Bearer token' },
  { value: 'basic', text: 'User name and password (Basic)' },
  { value: HEADER, text: 'Key in a header' },
] as const

/** Returns the fields that say how an API authenticates. `none` is the option for what its description says. */
export const toAuthChoice = (auth: string | undefined, none: string) => {
  const given = toGivenSecurity(auth ?? '')
  const isHeader = typeof given === 'object'
  return {
    value: isHeader ? HEADER : (given ?? ''),
    header: isHeader ? given.header : '',
    options: [{ value: '', text: none }, ...HOWS],
  }
}

/** Returns the typed fields as they are stored: `bearer`, `basic` or `header:NAME`. Throws for the field `authHeader`. */
export const readAuthChoice = ({ auth, header }: { auth: string; header: string }): string | undefined => {
  if (auth === '') return undefined
  const text = auth === HEADER ? `${HEADER}:${header.trim()}` : auth
  if (GIVEN_SECURITY.test(text)) return text
  const message = 'must have 1 to 100 letters, digits, hyphens and underscores'
  const errors = [{ path: 'authHeader', message }]
  throw new AppError('invalid_request', 'Couldn’t save. Fix the fields marked below.', { errors })
}
