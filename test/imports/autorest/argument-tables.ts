import type { JsonObject } from '../../../src/lib/kernel/json.ts'

/** The arguments of one call of an operation, or of one call for each of its scenarios. */
export type Arguments = JsonObject | readonly JsonObject[]

/** By description and operationId. Added to what `deriveArguments` knows. */
export type ArgumentTable = Readonly<Record<string, Readonly<Record<string, Arguments>>>>

/** 「啊齄丂狛狜隣郎隣兀﨩」 in Base64. */
export const MULTIBYTE = '5ZWK6b2E5LiC54ub54uc76ex76Ss76ex76iM76ip'

/** A text with most characters that mean something in URLs. */
export const SPECIAL = "begin!*'();:@ &=+$,/?#[]end"
