import type { JsonValue } from '../../lib/kernel/json.ts'
import { castValue, type ParameterMeta } from '../../templates/check-value.ts'
import type { ParameterType } from '../../templates/template.ts'
import { suggestType } from '../../tools/import/draft-url.ts'
import type { RequestPlaceholder, RequestVariable } from '../../tools/import/imported-request.ts'
import { markOf } from '../../tools/import/variable-marks.ts'
import { MAX_EXAMPLE_CHARS, MAX_PARAMETER_TEXT_CHARS } from '../limits.ts'
import { parameterNameOf } from '../openapi/names.ts'
import { plainText } from '../openapi/texts.ts'

/** A value of a request that becomes a parameter. */
export type Member = Omit<RequestPlaceholder, 'name'> & Omit<ParameterMeta, 'binding'> & { name: string }

/** A value with the type of the parameter that it is a value of. */
export type TypedValue = { type: ParameterType; value: JsonValue }

/** Returns a text as the number or the boolean that it is written as. One that would be written differently stays. */
export const typeText = (text: string): TypedValue => {
  const type = suggestType(text)
  const cast = castValue(type, text, 'text')
  return cast.ok && String(cast.value) === text ? { type, value: cast.value } : { type: 'string', value: text }
}

/** Starts the name of a member. No variable of a source has a brace in its name. */
const MEMBER = '{member '

/** Returns whether a variable is a member, whose value the model supplies. */
export const isMember = (written: string): boolean => written.startsWith(MEMBER)

/** Returns whether a value is short enough to be an example. */
export const isShortExample = (value: JsonValue): boolean => JSON.stringify(value).length <= MAX_EXAMPLE_CHARS

const metaOf = ({ description = '', default: preset, example, schema }: Member): ParameterMeta => {
  const text = plainText(description, MAX_PARAMETER_TEXT_CHARS)
  return {
    ...(text !== '' && { description: text }),
    ...(preset !== undefined && { default: preset }),
    ...(example !== undefined && example !== '' && isShortExample(example) && { example }),
    ...(schema !== undefined && { schema }),
  }
}

/** Collects the members of one request. */
export const createMembers = () => {
  const variables: RequestVariable[] = []
  const metas = new Map<string, ParameterMeta>()
  return {
    /** Adds a member, and returns its mark for the text of the request. */
    add: (member: Member): string => {
      const name = `${MEMBER}${variables.length}}`
      const { type, isOptional, serialization } = member
      const placeholder = { name: parameterNameOf(member.name, 'value', new Set()), type, isOptional, serialization }
      variables.push({ name, written: name, from: 'placeholder', placeholder })
      metas.set(name, metaOf(member))
      return markOf(name)
    },
    variables: (): readonly RequestVariable[] => variables,
    /** The metadata of the members, by `written` of their variables. */
    metas: (): ReadonlyMap<string, ParameterMeta> => metas,
  }
}
export type Members = ReturnType<typeof createMembers>
