/**
 * Control characters, which steer a terminal; and what has no width, or turns the text around, so that a line reads as
 * another command than the one that it holds.
 */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** One line for a terminal: what a file or somebody else's server says must not steer it. */
export const printable = (line: string): string => line.replaceAll(STEERING, '\u{fffd}')
