/** What came of the work, and how often everybody else had a turn of the event loop meanwhile. */
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
