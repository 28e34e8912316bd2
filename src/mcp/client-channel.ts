/** Sends messages to a client before the response to its request, for as long as the transport allows it. */
export type ClientChannel = {
  isOpen: boolean
  /** Does nothing after the channel is closed. */
  send: (json: string) => void
  close: () => void
}

/** The channel for transports that can send only the response. */
export const CLOSED_CHANNEL: ClientChannel = { isOpen: false, send: () => {}, close: () => {} }

export const createChannel = (write: (json: string) => void, isOpen = true): ClientChannel => {
  const channel: ClientChannel = {
    isOpen,
    send: json => {
      if (channel.isOpen) write(json)
    },
    close: () => {
      channel.isOpen = false
    },
  }
  return channel
}

/** An event stream that carries messages, followed by the response to a POST. */
export type ResponseStream = {
  send: (json: string) => void
  /** Sends a comment, so that proxies keep the connection open. */
  beat: () => void
  /** Ends the stream. `json` is the response; it is omitted if the request was cancelled. */
  end: (json?: string) => void
  /** Whether a disconnected client can resume the stream. */
  isResumable: boolean
}

/** The channel of a POST: its first message or comment turns the response into an event stream. */
export type PostChannel = ClientChannel & {
  stream: ResponseStream | undefined
  /** Sends a comment. Must not be called on a closed channel. */
  beat: () => void
  /** Called if a shutdown is about to cut off the stream, on whichever connection it is then. */
  onCutOff: () => void
}

export const createPostChannel = (
  canStream: boolean,
  openStream: (onCutOff: () => void) => ResponseStream,
): PostChannel => {
  const open = (): ResponseStream => {
    channel.stream ??= openStream(() => channel.onCutOff())
    return channel.stream
  }
  const channel: PostChannel = Object.assign(
    createChannel(json => open().send(json), canStream),
    { stream: undefined, beat: () => open().beat(), onCutOff: () => {} },
  )
  return channel
}
