/** A name with a dot at its end is the same name (RFC 1034 §3.1). */
const withoutRootDot = (origin: string): string => origin.replace(/\.(?=$|:\d+$)/, '')

/** Whether an origin is one of Patchbay's own, however it is spelled. */
export const createOwnOriginCheck = (ownOrigins: readonly string[] = []): ((origin: string) => boolean) => {
  const own = new Set(ownOrigins.map(withoutRootDot))
  return origin => own.has(withoutRootDot(origin))
}
