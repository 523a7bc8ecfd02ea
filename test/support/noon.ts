/** When the stories begin, in seconds since the epoch. */
export const noon = 1_800_000_000
