import type { JsonObject } from '../../lib/kernel/json.ts'
import type { DraftPreview, DraftTest } from '../../runtime/try/tool-draft.ts'
import type { SecretPlaces, ToolUse } from './parameter-secrets.ts'
import type { PlacedAdvice } from './tool-editor-advice.ts'
import type { ReadForm } from './tool-editor-definition.ts'
import type { PlacedErrors } from './tool-editor-errors.ts'
import type { ToolForm } from './tool-editor-form.ts'
import type { EditorSubject } from './tool-editor-subject.ts'

/** Everything derived from the form, before it is formatted for display. */
export type EditorState = {
  subject: EditorSubject
  form: ToolForm
  read: ReadForm
  placed: PlacedErrors
  /** Problems that clients or models would have with the tool. */
  advice: PlacedAdvice
  /** Values for trying the tool: the entered values, or else the examples. */
  values: ReadonlyMap<string, string>
  valueFaults: ReadonlyMap<string, string>
  preview: DraftPreview | undefined
  seen: { name: string; description: string | undefined; inputSchema: JsonObject } | undefined
  cost: { tokens: number; ofDescription: number; encoding: string } | undefined
  /** Globals of the chosen server. */
  globals: readonly { key: string; isSecret: boolean }[]
  /** The tool on the chosen server, if it is there. */
  use: ToolUse | undefined
  /** The parameters that are kept as secrets, on the chosen server. Empty if none is chosen. */
  secrets: SecretPlaces
  /** The outcome of the request, if it was sent. */
  test: DraftTest | undefined
  /** Whether the URL field has a cURL command, which `form` does not contain. */
  isCommand: boolean
  maxTimeoutMs: number
  defaultTimeoutMs: number
}
