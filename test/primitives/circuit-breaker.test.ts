import { CircuitBreaker } from '../../lib/primitives/circuit-breaker'

function circuit() {
  let now = 0
  const breaker = new CircuitBreaker(() => now)
  return {
    breaker,
    pass: (milliseconds: number) => (now += milliseconds),
    fail: (times: number) => {
      for (let count = 0; count < times; count++) breaker.failed()
    },
  }
}

describe('a circuit breaker', () => {
  it('opens after five failures in a row, and a success in between counts from the beginning', () => {
    const { breaker, fail } = circuit()
    fail(4)
    breaker.succeeded()
    fail(4)
    expect(breaker.mayTry()).toBe(true)
    fail(1)
    expect(breaker.mayTry()).toBe(false)
  })

  it('lets one act through after ten seconds, and another one only ten seconds later', () => {
    const { breaker, fail, pass } = circuit()
    fail(5)
    pass(9_999)
    expect(breaker.mayTry()).toBe(false)
    pass(1)
    expect([breaker.mayTry(), breaker.mayTry()]).toEqual([true, false])
    // An act that never ends holds no other one up for good.
    pass(10_000)
    expect(breaker.mayTry()).toBe(true)
  })

  it('closes when an act succeeds', () => {
    const { breaker, fail, pass } = circuit()
    fail(5)
    pass(10_000)
    expect(breaker.mayTry()).toBe(true)
    breaker.succeeded()
    expect([breaker.mayTry(), breaker.mayTry()]).toEqual([true, true])
  })
})
