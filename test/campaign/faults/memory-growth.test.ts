import { growthOf } from './memory-growth'

describe('The growth of memory', () => {
  test('does not count the warming up, nor single peaks', () => {
    expect(growthOf([10, 50, 100, 101, 99, 300, 100, 100, 101, 99])).toBeCloseTo(0)
    expect(growthOf([1, 1, 1, 100, 100, 900, 100, 100, 100, 100, 100, 100, 100, 900, 100])).toBe(0)
  })

  test('is seen when it never ends', () => {
    expect(growthOf([100, 110, 120, 130, 140, 150, 160, 170, 180, 190])).toBeGreaterThan(0.4)
  })
})
