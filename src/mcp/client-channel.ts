/** Sends a client messages before the response to its request, for as long as the transport can. */
export type ClientChannel = {
  isOpen: boolean
  /** Does nothing once the channel is closed. */
  send: (json: string) => void
  close: () => void
}

/** For transports that send the response only. */
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

/** The response to a POST as an event stream, because messages precede it. */
export type ResponseStream = {
  send: (json: string) => void
  /** Ends the stream, without a response if the request was cancelled. */
  end: (json?: string) => void
  /** Whether a client that lost its connection can come back for the rest. */
  isResumable: boolean
}

/** The channel of a POST: its first message turns the response into an event stream. */
export type PostChannel = ClientChannel & { stream: ResponseStream | undefined }

export const createPostChannel = (canStream: boolean, openStream: () => ResponseStream): PostChannel => {
  const write = (json: string): void => {
    channel.stream ??= openStream()
    channel.stream.send(json)
  }
  const channel: PostChannel = Object.assign(createChannel(write, canStream), { stream: undefined })
  return channel
}
