/** Returns a copy of a response's body without the request id, which differs between two equal responses. */
export const withoutRequestId = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body, (name, value: unknown) => (name === 'requestId' ? undefined : value)))
