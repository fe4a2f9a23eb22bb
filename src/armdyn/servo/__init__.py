"""Arms with position servos: identified from commanded and measured positions, without torques."""

from armdyn.exports import export

NO_FORMULAS = True  # its text is no part of the key of compiled code

export(
    __name__,
    {
        "identify": "identify_servo",
        "log": "ServoLog",
        "read_log": "read_servo_log",
        "result": "ServoFit",
    },
)
