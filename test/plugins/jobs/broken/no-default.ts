export const job = 1
