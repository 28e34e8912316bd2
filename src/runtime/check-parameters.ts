import { isJsonObject, type JsonObject, type JsonValue } from '../lib/kernel/json.ts'
import { castAs } from '../templates/check-value.ts'
import type { CheckedParameter } from '../templates/compile-parameters.ts'
import { acceptedTypes, isMissing } from '../templates/lists/serialize.ts'
import { schemaOfParameters } from '../templates/parameter-schema.ts'
import type { SchemaCheck } from '../tools/schemas/schema-check.ts'

/**
 * Returns a check of arguments against the schemas of these parameters, or undefined if none has a schema. Arguments are
 * cast first, so that `"42"` matches the schema of an integer. One that cannot be cast, or that counts as omitted, is
 * left to the check of its type. So are all patterns: that check limits how long they may take together.
 */
export const checkParameters = (
  parameters: readonly CheckedParameter[],
  createCheck: (schema: JsonObject) => SchemaCheck,
): SchemaCheck | undefined => {
  const schema = schemaOfParameters(parameters)
  if (schema === undefined) return undefined
  const withSchema = parameters.filter(({ meta }) => meta.schema !== undefined)
  const check = createCheck(schema)
  return (args, signal) => {
    const given = withSchema.flatMap(({ parameter }): [string, JsonValue][] => {
      const { name, type, places } = parameter
      const argument = isJsonObject(args) && Object.hasOwn(args, name) ? args[name] : undefined
      if (argument === undefined || isMissing(parameter, argument)) return []
      const value = castAs(type, acceptedTypes(places), argument)
      return value.ok ? [[name, value.value]] : []
    })
    return check(Object.fromEntries(given), signal)
  }
}
