import type { JsonObject } from '../../lib/kernel/json.ts'
import type { DraftPreview } from '../../runtime/try/tool-draft.ts'
import type { ToolTest } from '../../runtime/try/tool-test.ts'
import type { PlacedAdvice } from './tool-editor-advice.ts'
import type { ReadForm } from './tool-editor-definition.ts'
import type { PlacedErrors } from './tool-editor-errors.ts'
import type { ToolForm } from './tool-editor-form.ts'
import type { EditorHome } from './tool-editor-home.ts'

/** Everything that follows from what is typed, before it is put into words. */
export type EditorState = {
  home: EditorHome
  form: ToolForm
  read: ReadForm
  placed: PlacedErrors
  /** What clients or models would mind of it, while it can be read. */
  advice: PlacedAdvice
  /** The values it is tried with: those typed, else the examples. */
  values: ReadonlyMap<string, string>
  valueFaults: ReadonlyMap<string, string>
  preview: DraftPreview | undefined
  seen: { name: string; description: string | undefined; inputSchema: JsonObject } | undefined
  cost: { tokens: number; ofDescription: number; encoding: string } | undefined
  /** What came of sending it just now. */
  test: ToolTest | undefined
  maxTimeoutMs: number
  defaultTimeoutMs: number
}
