/** What a patch diagram shows: the wiring of one server, in words and numbers that are ready to be shown. */
export type Patch = {
  /** Of the server. */
  title: string
  groups: readonly PatchGroup[]
  /** In the order of their keys; the diagram orders them by where they lead. */
  globals: readonly PatchGlobal[]
  callers: PatchCallers
  links: PatchLinks
}

/** Where the words of the picture lead; without them, as on the landing page, it is a picture only. */
export type PatchLinks = {
  tools?: string | undefined
  sources?: string | undefined
  bindings?: string | undefined
  globals?: string | undefined
}

/** Round, diamond, square and empty ring; the words beside it say the same. */
export type PatchState = 'good' | 'slow' | 'failed' | 'idle'

/** What tools come from. */
export type PatchGroup = {
  kind: 'toolkit' | 'upstream'
  name: string
  href?: string | undefined
  /** The state in words: "answering, 182 ms". */
  health: string
  state: PatchState
  /** In the order in which their owner has them. */
  tools: readonly PatchTool[]
}

export type PatchTool = {
  name: string
  href?: string | undefined
  /** Beside the name: "GET · 1,204 calls". */
  meta: string
  /** Within the time that the picture speaks of. */
  calls: number
  state?: 'failed' | undefined
  parameters: readonly PatchParameter[]
}

/** One parameter and where its value comes from. */
export type PatchParameter = { name: string } & (
  | { source: 'fixed'; value: string }
  /** `value` where the global is only a part of it: "Bearer {{token}}". */
  | { source: 'global' | 'secret'; key: string; value?: string | undefined }
  | { source: 'exposed' }
  /** Bound to a global that is not there, or without anything to bind. */
  | { source: 'missing'; key?: string | undefined }
)

export type PatchGlobal = {
  key: string
  source: 'global' | 'secret'
  /** Of a secret one never the value. */
  value: string
  /** How many parameters of all tools read it. */
  uses: number
}

export type PatchCallers = {
  /** Whom the server lets in: "public", "organization", "private". */
  tier: string
  href?: string | undefined
  list: readonly PatchCaller[]
}

export type PatchCaller = { name: string; what: string; state: 'good' | 'idle' }
