/** Does the work. Returns its result and the number of event loop turns that it took. */
export const countTurns = async <Made>(work: () => Promise<Made> | Made): Promise<{ made: Made; turns: number }> => {
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const made = await work()
  isOver = true
  return { made, turns }
}
