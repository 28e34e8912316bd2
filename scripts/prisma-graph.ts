/** Returns a reader for the graph's numbers: bytes, two-byte numbers, and LEB128 for numbers of any size. */
const createReader = (bytes: Buffer) => {
  let at = 0
  const byte = (): number => bytes.readUInt8(at++)
  return {
    byte,
    short: (): number => {
      at += 2
      return bytes.readUInt16LE(at - 2)
    },
    number: (): number => {
      let value = 0
      for (let shift = 0; ; shift += 7) {
        const part = byte()
        value |= (part & 127) << shift
        if (part < 128) return value
      }
    },
    isAtEnd: () => at === bytes.length,
  }
}

const createWriter = () => {
  const bytes: number[] = []
  return {
    bytes,
    number: (value: number): number => {
      let rest = value
      for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128)
      bytes.push(rest)
      return value
    },
  }
}

const times = (count: number, work: () => void): void => {
  for (let index = 0; index < count; index++) work()
}

/**
 * Adds `by` to every string index in Prisma's serialized query graph. Throws if the layout is not that of Prisma 7.10
 * (see `deserialize` in its runtime).
 */
export const shiftStrings = (graph: string, by: number): string => {
  const { byte, short, number, isAtEnd } = createReader(Buffer.from(graph, 'base64url'))
  const written = createWriter()
  const copy = (): number => written.number(number())
  const shift = (): number => written.number(number() + by)
  /** 0 means no string. Any other value is the index plus one. */
  const shiftOptional = (): void => {
    const value = number()
    written.number(value === 0 ? 0 : value + by)
  }
  const inputs = copy()
  const outputs = copy()
  const roots = copy()
  times(inputs, () =>
    times(copy(), () => {
      shift()
      const scalars = short()
      written.bytes.push(scalars & 255, scalars >>> 8)
      copy()
      shiftOptional()
      written.bytes.push(byte())
    }),
  )
  const shiftWithTwo = (): void => {
    shift()
    copy()
    copy()
  }
  times(outputs, () => times(copy(), shiftWithTwo))
  times(roots, shiftWithTwo)
  if (!isAtEnd()) throw new Error("Prisma's graph of queries is not laid out as it was")
  return Buffer.from(written.bytes).toString('base64url')
}
