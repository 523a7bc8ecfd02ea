import { deviations, median, superiority } from './samples'

const evenly = (from: number) => Array.from({ length: 101 }, (_, at) => from + at)

test('the median is the middle, of an even number the mean of both middles', () => {
  expect(median([5, 1, 3])).toBe(3)
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(median([7])).toBe(7)
})

test('the share of greater ones is one half for the same, and 0 or 1 for what overlaps nowhere', () => {
  expect(superiority(evenly(0), evenly(0))).toBe(0.5)
  expect(superiority(evenly(200), evenly(0))).toBe(1)
  expect(superiority(evenly(0), evenly(200))).toBe(0)
})

test('the deviations grow with the difference', () => {
  expect(deviations(evenly(0), evenly(0))).toBe(0)
  expect(deviations(evenly(20), evenly(0))).toBeGreaterThan(3)
  expect(deviations(evenly(0), evenly(20))).toBeLessThan(-3)
})
