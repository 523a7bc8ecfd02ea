/** By how many seconds the clock of this process is ahead of the machine's. */
export const time = { ahead: 0 }

const RealDate = Date
const now = () => RealDate.now() + time.ahead * 1000

/** Whatever this process runs tells the time by `time`: libraries that take no clock, and their caches. */
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})
const elapsed = performance.now.bind(performance)
performance.now = () => elapsed() + time.ahead * 1000
