import { findProgram, redisProgram } from './program'

// REDIS_URL alone gives no program to start servers of one's own with: then these tests are skipped.
export const describeOwnRedis =
  findProgram(redisProgram, process.env) === undefined ? describe.skip : describe
