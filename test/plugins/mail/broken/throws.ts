throw new Error('This module fails.')
