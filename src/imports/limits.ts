import { MAX_IMPORT_BYTES } from '../lib/kernel/limits.ts'

/** Maximum size of all documents of a description together, unpacked. A setting can lower it. */
export const MAX_DESCRIPTION_BYTES = MAX_IMPORT_BYTES
/** Maximum nesting of a document. No real one has more than 50 levels, and the code that walks it is recursive. */
export const MAX_DESCRIPTION_DEPTH = 100
/** Maximum number of values in a document, counting the value of a YAML alias each time it is used. */
export const MAX_DESCRIPTION_VALUES = 5_000_000
/** Maximum number of operations in a description. The largest public one has 10,000. */
export const MAX_OPERATIONS = 15_000
/** Maximum number of documents that make up a description. */
export const MAX_DOCUMENTS = 50
/** With more operations than this, none is selected until the builder does so. Models choose badly among so many tools. */
export const MAX_PRESELECTED = 200
/** Operations per batch. The first batch takes a fraction of a second. */
export const OPERATIONS_PER_BATCH = 100
/** Maximum length of a note on a tool, or of the reason why an operation cannot be one. Both quote the description. */
export const MAX_NOTE_CHARS = 300
/** Maximum number of notes on a tool. */
export const MAX_NOTES = 50
/** Maximum length of a tool's description, without what it returns. */
export const MAX_TOOL_TEXT_CHARS = 700
/** Maximum length of the description of a parameter or of a member of a schema. */
export const MAX_PARAMETER_TEXT_CHARS = 300
/** Maximum size of an example as JSON. Longer ones say no more to a model, and every conversation pays for them. */
export const MAX_EXAMPLE_CHARS = 500
/** Maximum size of all examples of a tool. */
export const MAX_EXAMPLES_CHARS = 2_000
/** Maximum number of subschemas in the schema of a parameter. Models cannot fill in more. */
export const MAX_SCHEMA_NODES = 400
/** Maximum size of such a schema as JSON: about 4,000 tokens. */
export const MAX_SCHEMA_CHARS = 16 * 1_024
/** Maximum length of the descriptions in a schema that would be larger otherwise. */
export const MAX_SHORT_TEXT_CHARS = 80
/** Maximum size of a proposed output schema as JSON. Clients send it to the model with each conversation. */
export const MAX_OUTPUT_SCHEMA_CHARS = 8 * 1_024
/** Version of how tools are generated, kept with each tool. A change to the mapping that users notice raises it. */
export const GENERATOR_VERSION = 1
