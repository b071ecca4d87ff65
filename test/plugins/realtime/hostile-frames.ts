import { frame } from './raw-socket.ts'

/** A message that the sockets of these tests accept. */
export const HELLO = '{"text":"hello"}'

/** Frames that end a socket, each with the code of the end. */
export const HOSTILE: Readonly<Record<string, readonly [frames: Buffer[], code: number]>> = {
  'a frame without a mask': [[frame(0x81, HELLO, false)], 1002],
  'reserved bits': [[frame(0xf1, HELLO)], 1002],
  'an unknown opcode': [[frame(0x83, HELLO)], 1002],
  'a continuation without a beginning': [[frame(0x80, HELLO)], 1002],
  'a control frame in fragments': [[frame(0x09, 'a')], 1002],
  'a control frame that is too long': [[frame(0x89, 'a'.repeat(126))], 1002],
  'text that is not UTF-8': [[frame(0x81, Buffer.from([0x22, 0xff, 0x22]))], 1007],
  'a binary message': [[frame(0x82, HELLO)], 1003],
  'a message above 64 KiB': [[frame(0x01, 'a'.repeat(65_000)), frame(0x80, 'a'.repeat(1000))], 1009],
  'a length of 2 ** 63 - 1': [[Buffer.from('81ff7fffffffffffffff00000000', 'hex')], 1009],
  'a close code that is reserved': [[frame(0x88, Buffer.from([1005 >> 8, 1005 & 255]))], 1002],
  'half a close code': [[frame(0x88, 'a')], 1002],
  'more fragments than a message may have': [
    Array.from({ length: 1100 }, (_, index) => frame(index === 0 ? 0x01 : 0x00, 'a')),
    1008,
  ],
  'a flood of pings': [Array.from({ length: 200 }, () => frame(0x89)), 4429],
  'a flood of messages': [Array.from({ length: 200 }, () => frame(0x81, HELLO)), 4429],
}
